#include "models/families/activation_option.hpp"

#include "runtime/fault.hpp"
#include "runtime/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hydra {

activation activation_option(const char* who, const std::string& name) {
  if (const auto found = activation_named(name)) return *found;
  const auto names = activation_names();
  throw fault_error{fault_code::bad_input, fmt::format("{}: unknown activation \"{}\"; did you mean \"{}\"? There are {}",
                                                       who, name, nearest_name(name, names), fmt::join(names, ", "))};
}

}  // namespace hydra
