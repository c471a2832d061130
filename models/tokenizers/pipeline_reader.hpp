#pragma once
// The parts of a tokenizer.json other than its model: normalizer, pre_tokenizer, decoder.

#include "models/tokenizers/pre_tokenizer.hpp"
#include "models/tokenizers/text_normalizer.hpp"
#include "models/tokenizers/wordpiece.hpp"
#include "models/weights/model_config.hpp"

namespace hydra {

// `file` is the whole tokenizer.json. All throw fault_error{bad_input} with file and key for what Hydra does not
// support.

normalizers read_normalizers(const model_config& file);

/// ByteLevel, or a Sequence that ends in it.
pre_tokenizer read_byte_level_words(const model_config& file);
void require_byte_level_decoder(const model_config& file);

void require_bert_words(const model_config& file);
void read_wordpiece_decoder(const model_config& file, wordpiece_rules& rules);

}  // namespace hydra
