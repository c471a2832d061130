#pragma once
// Opens each kind of a tokenizer's files. open_tokenizer() throws what they throw: fault_error{bad_input} with the file
// and the line or key for what is malformed or not supported, and where transformers would make other words.

#include "models/tokenizers/tokenizer.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// tokenizer.json, the one-file form of the `tokenizers` package. Model types BPE, Unigram and WordPiece. A BPE is
/// byte-level if its pre_tokenizer ends in ByteLevel, else one of characters, with or without byte fallback. Other
/// parts: part_readers.hpp. Truncation and padding are ignored, because encode() neither cuts nor adds.
/// tokenizer_config.json, special_tokens_map.json and added_tokens.json next to the file add and name tokens; what else
/// they say is in notes(), if the file does not say the same. `added`: special tokens that the tokenizer gets where the
/// files lack them, each with the next id.
std::shared_ptr<const tokenizer> open_tokenizer_json(const std::filesystem::path& file,
                                                     const std::vector<std::string>& added = {});

// vocabulary_files.cpp: files that are older than tokenizer.json. Optional files next to the vocabulary:
// tokenizer_config.json (add_prefix_space, add_bos_token, add_eos_token; do_lower_case, strip_accents,
// tokenize_chinese_chars; special and added tokens), special_tokens_map.json and added_tokens.json. Special tokens that
// they name, or that are in the vocabulary by a usual name, are recognised in a text.

/// vocab.json and merges.txt: byte-level BPE with GPT-2's words.
std::shared_ptr<const tokenizer> open_bpe_files(const std::filesystem::path& vocab,
                                                const std::filesystem::path& merges);
/// vocab.txt: WordPiece as in BERT, a text between [CLS] and [SEP]; lower case unless do_lower_case is false.
std::shared_ptr<const tokenizer> open_wordpiece_file(const std::filesystem::path& vocab);

/// SentencePiece's own file, tokenizer.model. Ids and texts are those of the library. Optional files next to the model,
/// as in older Hugging Face folders: added_tokens.json and tokenizer_config.json (added_tokens_decoder) add tokens,
/// these and special_tokens_map.json name special ones. All of them are recognised in a text, whose parts between them
/// are encoded each by itself. So are the model's control symbols ("<s>"), unlike in the library, which has no text for
/// them.
std::shared_ptr<const tokenizer> open_sentencepiece(const std::filesystem::path& file);

}  // namespace hydra
