#pragma once
// Description of a plug-in's kind of device, and a request for a device of it. Standard library and runtime/base only.

#include "runtime/base/option.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hydra {

enum class device_use : std::uint8_t {
  run,      ///< it has its own budget: a device whose memory is real allocates all of it now
  measure   ///< for measurements during a run: allocates memory when it is used, and returns it
};

struct device_request {
  std::string name;          ///< unique in the run: "cuda:0"
  option_values options{};   ///< complete: only options with `otherwise` may be missing
  device_use use = device_use::run;
};

/// What plugin_item::about of a device points to.
struct device_about {
  std::vector<option> options{};   ///< keys of [[device]]
  /// A line for each device of the kind on this machine; may be empty. Throws fault_error{bad_input} that says what is
  /// missing.
  std::function<std::vector<std::string>()> find{};
};

}  // namespace hydra
