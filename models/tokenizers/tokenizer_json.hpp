#pragma once
// tokenizer.json, the one-file form of the `tokenizers` package.

#include "models/tokenizers/tokenizer.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// Model types BPE, Unigram and WordPiece. A BPE is byte-level if its pre_tokenizer ends in ByteLevel, else one of
/// characters, with or without byte fallback. Normalizers, pre_tokenizers and decoders: normalizer_reader.cpp,
/// pipeline_reader.hpp, piece_reader.hpp; what begins and ends a text: post_processor_reader.hpp. Truncation and
/// padding are ignored, because encode() neither cuts nor adds. tokenizer_config.json, special_tokens_map.json and
/// added_tokens.json next to the file add and name tokens; what else they say is in notes(), if the file does not say
/// the same. `added`: special tokens that the tokenizer gets where the files lack them, each with the next id. Throws
/// fault_error{bad_input} with file and key for what is malformed or not supported.
std::shared_ptr<const tokenizer> open_tokenizer_json(const std::filesystem::path& file,
                                                     const std::vector<std::string>& added = {});

}  // namespace hydra
