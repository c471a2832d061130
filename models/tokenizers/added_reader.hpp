#pragma once
// Added tokens as stored in files.

#include "models/tokenizers/file_tokenizer.hpp"
#include "models/tokenizers/tokenizer_settings.hpp"
#include "models/weights/model_config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

// All throw fault_error{bad_input} with file and key for a token that is malformed or has an id other than the
// vocabulary's, or that of another token.

/// tokenizer.json: "added_tokens": [{"id", "content", flags}, ...].
void add_from_list(const model_config& file, tokenizer_parts& parts);

/// Ids of tokens that only the settings have. A tokenizer.json's are the next ones, whatever the settings say: they are
/// refused if they say others.
enum class new_ids : std::uint8_t { as_written, next };

/// The tokens that the settings add, as in transformers: added_tokens.json ({"content": id, ...}), added_tokens_decoder
/// of tokenizer_config.json ({"id": {"content", flags}, ...}), then those that are named, which are recognised in a
/// text from now on. Of these a new one gets the next id, but not for padding, which has no loss: a note names it.
void add_beside(const tokenizer_settings& settings, new_ids ids, tokenizer_parts& parts);

/// Adds special tokens that a user wants: each that is not an added token gets the id that it has in the vocabulary, or
/// the next one. Returns those, with their ids: "<|x|> 320".
std::vector<std::string> added_anew(const std::vector<std::string>& tokens, tokenizer_parts& parts);

/// Makes the model's tokens with a special meaning ones that are recognised in a text.
void recognise(const special_tokens& special, tokenizer_parts& parts);

std::optional<std::uint32_t> find_token(const tokenizer_parts& parts, std::string_view token);

}  // namespace hydra
