#pragma once
// Description of a plug-in's kind of device, and a request for a device of it. Standard library and bytes only.

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
  device_value type;            ///< only its alternative matters, not its value
  std::string fallback{};       ///< the default in words, for help texts; empty: the option is required
};

/// The purpose of a device.
enum class device_use : std::uint8_t {
  run,      ///< it has its own budget: a device whose memory is real allocates all of it now
  measure   ///< for measurements during a run: allocates memory when it is used, and returns it
};

/// A request for one device.
struct device_request {
  std::string name;                               ///< unique in the run: "cuda:0"
  std::map<std::string, device_value> options{};  ///< those that were given; each of the option's type
  device_use use = device_use::run;
};

/// The value of an option, or its default.
template <class T>
T value_or(const device_request& r, const std::string& option, T otherwise) {
  const auto found = r.options.find(option);
  return found == r.options.end() ? otherwise : std::get<T>(found->second);
}

/// What plugin_item::about of a device points to.
struct device_about {
  std::vector<device_option> options{};
  /// A line for each device of the kind on this machine; may be empty. Throws fault_error{bad_input} that says what is
  /// missing.
  std::function<std::vector<std::string>()> find{};
};

}  // namespace hydra
