#pragma once
// The option `activation` of a family.

#include "models/layers/activation.hpp"

#include <string>

namespace hydra {

/// Throws fault_error{bad_input} naming the known functions. `who` names the family.
activation activation_option(const char* who, const std::string& name);

}  // namespace hydra
