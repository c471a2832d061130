#pragma once
// SentencePiece's own files, tokenizer.model.

#include "models/tokenizers/tokenizer.hpp"

#include <filesystem>
#include <memory>

namespace hydra {

/// Ids and texts are those of the library. Optional files next to the model, as in older Hugging Face folders:
/// added_tokens.json and tokenizer_config.json (added_tokens_decoder) add tokens, these and special_tokens_map.json
/// name special ones. All of them are recognised in a text, whose parts between them are encoded each by itself. So are
/// the model's control symbols ("<s>"), unlike in the library, which has no text for them. Throws
/// fault_error{bad_input} with the file.
std::shared_ptr<const tokenizer> open_sentencepiece(const std::filesystem::path& file);

}  // namespace hydra
