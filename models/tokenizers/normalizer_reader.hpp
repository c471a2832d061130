#pragma once
// The normalizer of a tokenizer.json.

#include "models/tokenizers/text_normalizer.hpp"
#include "models/tokenizers/text_replacement.hpp"
#include "models/weights/model_config.hpp"

#include <string_view>

namespace hydra {

// `file` is the whole tokenizer.json. All throw fault_error{bad_input} with file and key for what Hydra does not
// support.

normalizers read_normalizers(const model_config& file);

/// Refuses a normaliser after which the `tokenizers` package may not see a text's start where it is: it may drop the
/// first characters, and none of `blanks` (" " or what is written for it) need take their place.
void require_start_kept(const model_config& file, std::string_view blank);

/// Of a Replace, in normalizers and decoders.
text_replacement read_replacement(const model_config& part);

}  // namespace hydra
