#pragma once
// What the readers of a tokenizer.json's normalizer, pre_tokenizer and decoder have in common.

#include "models/tokenizers/split_pattern.hpp"
#include "models/weights/model_config.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hydra {

std::string type_of(const model_config& part);

/// Throws fault_error{bad_input}: the part's type, and what is supported ("A and B are").
[[noreturn]] void refuse_type(const model_config& part, std::string_view supported);

/// The members of a Sequence (in its `list`), else the part itself; empty if it is absent. `file` is the whole
/// tokenizer.json.
std::vector<model_config> members(const model_config& file, std::string_view key, std::string_view list);

/// "pattern": {"Regex": ...} or {"String": ...}, the latter not empty. Throws fault_error{bad_input} with the key for a
/// pattern that PCRE2 cannot compile.
std::variant<std::string, split_pattern> pattern_of(const model_config& part);

}  // namespace hydra
