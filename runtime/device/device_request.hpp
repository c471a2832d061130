#pragma once
// How a device of a plug-in's kind is described and asked for. Standard library and bytes only.

#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace hydra {

/// The value of one option; its type is the option's.
using device_value = std::variant<bool, std::int64_t, double, std::string, byte_count, byte_rate, duration>;

/// One option of a kind of device: a key of [[device]], and a member of device_request::options.
struct device_option {
  std::string name;
  std::string help;
  device_value type;            ///< its alternative counts, not its value
  std::string fallback{};       ///< in words, for help texts; empty: it is required
};

/// What a device is made for.
enum class device_use : std::uint8_t {
  run,      ///< its budget is its own: a device whose memory is real takes all of it now
  measure   ///< beside devices of a run, which hold theirs: it takes memory as that is used, and gives it back
};

/// One device, as it is asked for.
struct device_request {
  std::string name;                               ///< unique in the run: "cuda:0"
  std::map<std::string, device_value> options{};  ///< what was given; each of the option's type
  device_use use = device_use::run;
};

/// The value of an option, or what holds without it.
template <class T>
T value_or(const device_request& r, const std::string& option, T otherwise) {
  const auto found = r.options.find(option);
  return found == r.options.end() ? otherwise : std::get<T>(found->second);
}

/// What plugin_item::about of a device points to.
struct device_about {
  std::vector<device_option> options{};
  /// What this machine has of the kind, a line each. Throws fault_error{bad_input} saying what is missing. May be empty.
  std::function<std::vector<std::string>()> find{};
};

}  // namespace hydra
