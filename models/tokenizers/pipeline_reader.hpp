#pragma once
// The pre_tokenizer and decoder of a tokenizer.json, for byte-level BPE and WordPiece.

#include "models/tokenizers/pre_tokenizer.hpp"
#include "models/tokenizers/wordpiece.hpp"
#include "models/weights/model_config.hpp"

namespace hydra {

// `file` is the whole tokenizer.json. All throw fault_error{bad_input} with file and key for what Hydra does not
// support.

/// Whether the pre_tokenizer has a ByteLevel.
bool is_byte_level(const model_config& file);

/// ByteLevel, or a Sequence that ends in it.
pre_tokenizer read_byte_level_words(const model_config& file);
void require_byte_level_decoder(const model_config& file);

void require_bert_words(const model_config& file);
void read_wordpiece_decoder(const model_config& file, wordpiece_rules& rules);

/// Of a Split: Isolated, Removed, MergedWithPrevious or MergedWithNext.
pre_tokenizer_step read_split(const model_config& part);
/// Of a Digits.
pre_tokenizer_step read_digits(const model_config& part);

}  // namespace hydra
