#pragma once
// The names of PEFT's modules_to_save. They mean every module whose full name ends so, "head" lm_head, too, and "norm"
// input_layernorm; those of lora_options end at a dot.

#include "models/chain.hpp"

#include <string>
#include <vector>

namespace hydra {

/// For lora_options::also_train: each name as it is where it means the same modules there, else their full names.
std::vector<std::string> read_saved_modules(const chain& model, const std::vector<std::string>& names);

/// The inverse, for an adapted chain and names of also_train.
std::vector<std::string> written_saved_modules(const chain& adapted, const std::vector<std::string>& names);

}  // namespace hydra
