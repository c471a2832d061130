#pragma once
// config.json's keys that Hydra reads past.

#include "models/weights/model_config.hpp"

#include <string>
#include <vector>

namespace hydra {

/// "FILE: Hydra does not use KEY = VALUE": one for each key that the reader of an architecture did not ask for, unless
/// it has no effect on what is trained (settings of generation, names, logging, ...).
std::vector<std::string> unread_keys(const model_config& config);

}  // namespace hydra
