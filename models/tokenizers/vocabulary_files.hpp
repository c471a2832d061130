#pragma once
// Tokenizers in files that are older than tokenizer.json.

#include "models/tokenizers/tokenizer.hpp"

#include <filesystem>
#include <memory>

namespace hydra {

// Optional files next to the vocabulary: tokenizer_config.json (add_prefix_space, add_bos_token, add_eos_token;
// do_lower_case, strip_accents, tokenize_chinese_chars; special and added tokens), special_tokens_map.json and
// added_tokens.json. Special tokens that they name, or that are in the vocabulary by a usual name, are recognised in a
// text. Both throw fault_error{bad_input} with the file and the line or key, and where transformers would make other
// words.

/// vocab.json and merges.txt: byte-level BPE with GPT-2's words.
std::shared_ptr<const tokenizer> open_bpe_files(const std::filesystem::path& vocab,
                                                const std::filesystem::path& merges);
/// vocab.txt: WordPiece as in BERT, a text between [CLS] and [SEP]; lower case unless do_lower_case is false.
std::shared_ptr<const tokenizer> open_wordpiece_file(const std::filesystem::path& vocab);

}  // namespace hydra
