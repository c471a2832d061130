#pragma once
// The model, pre_tokenizer and decoder of a tokenizer.json of SentencePiece's kinds.

#include "models/tokenizers/piece_bpe.hpp"
#include "models/tokenizers/token_table.hpp"
#include "models/tokenizers/unigram.hpp"
#include "models/weights/model_config.hpp"

namespace hydra {

// `file` is the whole tokenizer.json. All throw fault_error{bad_input} with file and key for what Hydra does not
// support.

/// Words and decoder of a BPE of characters: pre_tokenizer Metaspace, WhitespaceSplit, Split, Digits, a Sequence of
/// them, or none; decoder Metaspace, Replace, ByteFallback, Fuse, Strip, a Sequence of them, or none.
piece_bpe_rules read_piece_bpe(const model_config& file, bpe_rules rules);

/// The model's vocabulary is a list of [token, score], whose place is the id.
token_table read_scored_vocabulary(const model_config& model);
/// Words and decoder as those of a BPE of characters.
unigram_rules read_unigram(const model_config& file, const model_config& model);

}  // namespace hydra
