#pragma once
// The non-linear function that an option of a family or a key of config.json names.

#include "models/layers/activation.hpp"
#include "models/weights/model_config.hpp"

#include <string>
#include <string_view>

namespace hydra {

/// The option `activation`. Throws fault_error{bad_input} naming the known functions. `who` names the family.
activation activation_option(const char* who, const std::string& name);

/// "gelu" if the key is absent. Throws fault_error{bad_input} with file and key for a function that Hydra does not
/// have.
activation activation_key(const model_config& config, std::string_view key);

}  // namespace hydra
