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

/// For a Metaspace that writes a prefix only at the start of a text: refuses a normalizer that may drop or join first
/// characters, because the `tokenizers` package then no longer takes the piece for the first, unless the piece starts
/// with a space or with `blank`, what is written for one.
void require_start_kept(const model_config& file, std::string_view blank);

/// Of a Replace, in normalizers and decoders.
text_replacement read_replacement(const model_config& part);

}  // namespace hydra
