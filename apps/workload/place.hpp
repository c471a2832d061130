#pragma once
// Where a value was written, and messages that name the place.

#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace hydra::apps {

/// What a workload is called that came as a text, not as a file: a place in it is "the workload given, line 2".
inline constexpr std::string_view given_workload = "the workload given";

/// A line of a file or of the workload given, or a command-line option (line 0).
struct place {
  std::shared_ptr<const std::string> source;
  std::uint32_t line = 0;
};

/// "quickstart.toml:12", or "--policy".
std::string to_string(const place& where);

/// A fault about the input whose text begins with the place.
class located_error final : public fault_error {
 public:
  using fault_error::fault_error;
};

using hydra::refuse;
/// Throws located_error{bad_input}: "quickstart.toml:12: model.steps: <text>".
[[noreturn]] void refuse(const place& where, std::string_view key, std::string_view text);

/// Throws fault_error{does_not_fit}: the value at the place needs more memory than the host has.
[[noreturn]] void refuse_size(const place& where, std::string_view key);

/// The result of `action`; a fault about its input, or a failed allocation, gets the place and the key in front unless
/// it has a place already.
template <class Action>
auto located(const place& where, std::string_view key, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const located_error&) {
    throw;
  } catch (const fault_error& e) {
    const fault& f = e.what_happened();
    const bool of_input = f.code == fault_code::bad_input || f.code == fault_code::io || f.code == fault_code::damaged;
    if (of_input) refuse(where, key, f.text);
    throw;
  } catch (const std::bad_alloc&) {
    refuse_size(where, key);
  }
}

}  // namespace hydra::apps
