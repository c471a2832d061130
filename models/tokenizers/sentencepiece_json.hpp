#pragma once
// SentencePiece's tokenizer.model as a tokenizer.json.

#include <filesystem>
#include <optional>
#include <string>

namespace hydra {

/// A tokenizer.json that gives the same ids, as Llama 2 has one. Empty for a model without an equal: of another kind
/// than BPE, with normalisation of more than blanks, with user-defined symbols. Throws fault_error{bad_input} for a
/// file that is no model.
std::optional<std::string> sentencepiece_json(const std::filesystem::path& file);

}  // namespace hydra
