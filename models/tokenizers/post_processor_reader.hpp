#pragma once
// The post_processor of a tokenizer.json: what begins and ends a text of its own.

#include "models/tokenizers/file_tokenizer.hpp"
#include "models/weights/model_config.hpp"

namespace hydra {

/// Reads parts.special.before and .after. TemplateProcessing for a single text, BertProcessing, RobertaProcessing,
/// ByteLevel (which adds nothing), a Sequence with at most one that adds tokens, or none. Throws fault_error{bad_input}
/// with file and key for others, and for an id that no token has.
void read_post_processor(const model_config& file, tokenizer_parts& parts);

}  // namespace hydra
