#pragma once
// Added tokens as stored in files.

#include "models/tokenizers/file_tokenizer.hpp"
#include "models/weights/model_config.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace hydra {

// Each adds to parts.added, and throws fault_error{bad_input} with file and key for a token that is malformed or has an id
// other than the vocabulary's, or that of another token.

/// tokenizer.json: "added_tokens": [{"id", "content", flags}, ...].
void add_from_list(const model_config& file, tokenizer_parts& parts);
/// tokenizer_config.json: "added_tokens_decoder": {"id": {"content", flags}, ...}.
void add_by_id(const model_config& file, tokenizer_parts& parts);
/// added_tokens.json: {"content": id, ...}.
void add_by_content(const model_config& file, tokenizer_parts& parts);

/// Makes the model's tokens with a special meaning ones that are recognised in a text.
void recognise(const special_tokens& special, tokenizer_parts& parts);

std::optional<std::uint32_t> find_token(const tokenizer_parts& parts, std::string_view token);

}  // namespace hydra
