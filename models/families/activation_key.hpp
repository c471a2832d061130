#pragma once
// A key of config.json that names a non-linear function.

#include "models/layers/activation.hpp"
#include "models/weights/model_config.hpp"

#include <string_view>

namespace hydra {

/// "gelu" if the key is absent. Throws fault_error{bad_input} with file and key for a function that Hydra does not
/// have.
activation activation_key(const model_config& config, std::string_view key);

}  // namespace hydra
