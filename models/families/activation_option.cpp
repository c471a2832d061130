#include "models/families/activation_option.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

namespace hydra {

activation activation_option(const char* who, const std::string& name) {
  if (const auto found = activation_named(name)) return *found;
  throw fault_error{fault_code::bad_input, fmt::format("{}: unknown activation \"{}\"{}", who, shown(name),
                                                       known_instead(name, activation_names()))};
}

}  // namespace hydra
