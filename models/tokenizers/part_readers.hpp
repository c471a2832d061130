#pragma once
// The parts of a tokenizer.json.

#include "models/tokenizers/file_tokenizer.hpp"
#include "models/tokenizers/piece_bpe.hpp"
#include "models/tokenizers/pre_tokenizer.hpp"
#include "models/tokenizers/text_normalizer.hpp"
#include "models/tokenizers/text_replacement.hpp"
#include "models/tokenizers/token_table.hpp"
#include "models/tokenizers/unigram.hpp"
#include "models/tokenizers/wordpiece.hpp"
#include "models/weights/model_config.hpp"

#include <string_view>

namespace hydra {

// `file` is the whole tokenizer.json. All throw fault_error{bad_input} with file and key for what Hydra does not
// support.

// -- normalizer_reader.cpp --------------------------------------------------------------------------------------------

normalizers read_normalizers(const model_config& file);

/// For a Metaspace that writes a prefix only at the start of a text: refuses a normalizer that may drop or join first
/// characters, because the `tokenizers` package then no longer takes the piece for the first, unless the piece starts
/// with a space or with `blank`, what is written for one.
void require_start_kept(const model_config& file, std::string_view blank);

/// Of a Replace, in normalizers and decoders.
text_replacement read_replacement(const model_config& part);

// -- pipeline_reader.cpp: the pre_tokenizer and decoder of byte-level BPE and WordPiece -------------------------------

/// Whether the pre_tokenizer has a ByteLevel.
bool is_byte_level(const model_config& file);

/// ByteLevel, or a Sequence that ends in it.
pre_tokenizer read_byte_level_words(const model_config& file);
void require_byte_level_decoder(const model_config& file);

void require_bert_words(const model_config& file);
void read_wordpiece_decoder(const model_config& file, wordpiece_rules& rules);

/// Of a Split: Isolated, Removed, MergedWithPrevious or MergedWithNext.
pre_tokenizer_step read_split(const model_config& part);
pre_tokenizer_step read_digits(const model_config& part);

// -- piece_reader.cpp: the model, pre_tokenizer and decoder of SentencePiece's kinds ----------------------------------

/// Words and decoder of a BPE of characters: pre_tokenizer Metaspace, WhitespaceSplit, Split, Digits, a Sequence of
/// them, or none; decoder Metaspace, Replace, ByteFallback, Fuse, Strip, a Sequence of them, or none.
piece_bpe_rules read_piece_bpe(const model_config& file, bpe_rules rules);

/// The model's vocabulary is a list of [token, score], whose place is the id.
token_table read_scored_vocabulary(const model_config& model);
/// Words and decoder as those of a BPE of characters.
unigram_rules read_unigram(const model_config& file, const model_config& model);

// -- post_processor_reader.cpp ----------------------------------------------------------------------------------------

/// Reads parts.special.before and .after: what begins and ends a text of its own. TemplateProcessing for a single text,
/// BertProcessing, RobertaProcessing, ByteLevel (which adds nothing), a Sequence with at most one that adds tokens, or
/// none. Refuses others, and an id that no token has.
void read_post_processor(const model_config& file, tokenizer_parts& parts);

}  // namespace hydra
