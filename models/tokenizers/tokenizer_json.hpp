#pragma once
// tokenizer.json, the one-file form of the `tokenizers` package.

#include "models/tokenizers/tokenizer.hpp"

#include <filesystem>
#include <memory>

namespace hydra {

/// Model types BPE (byte-level) and WordPiece; normalizer NFC, BertNormalizer or a Sequence of them; pre_tokenizer
/// ByteLevel, or a Sequence of Split, Digits and ByteLevel, or BertPreTokenizer; truncation, padding and post_processor
/// are ignored, because encode() neither adds nor truncates. tokenizer_config.json and special_tokens_map.json next to
/// the file name special tokens. Throws fault_error{bad_input} with file and key for what is malformed or not in this
/// list.
std::shared_ptr<const tokenizer> open_tokenizer_json(const std::filesystem::path& file);

}  // namespace hydra
