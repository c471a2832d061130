#pragma once
// Keys of a file of settings that Hydra reads past.

#include "models/weights/model_config.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// "FILE: Hydra does not use KEY = VALUE": one for each key that nobody asked for, unless it is in the list or its
/// value an empty table or list, which says nothing; keys of nested tables without their values.
std::vector<std::string> key_notes(const model_config& config, const std::set<std::string_view>& without_effect);

}  // namespace hydra
