#pragma once
// Samples of one text for models like BERT: [CLS] text [SEP] and padding.

#include "models/tokenizers/tokenizer.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace hydra {

/// The special tokens of such samples.
struct encoder_marks {
  std::int64_t classify = 0, separate = 0, padding = 0, mask = 0;
};

/// Throws fault_error{bad_input} naming `data` and the tokens that the tokenizer does not have. Only masked samples
/// require `mask`.
encoder_marks encoder_marks_of(const tokenizer& by, bool masked, std::string_view data);

/// Throws fault_error{bad_input} unless [CLS], one token and [SEP] fit into a sample of `context` tokens.
void require_room(std::int64_t context, std::string_view data);

/// Writes i64[3, T] = ids, segments (all 0), 1 for tokens and 0 for padding. Tokens beyond T - 2 are left out.
void write_encoder_input(std::span<const std::int64_t> tokens, const encoder_marks& marks, std::span<std::int64_t> out);

}  // namespace hydra
