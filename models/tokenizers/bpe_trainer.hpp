#pragma once
// Learning a byte-level BPE from texts.

#include "models/tokenizers/added_tokens.hpp"
#include "models/tokenizers/pre_tokenizer.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hydra {

struct bpe_training {
  std::int64_t vocabulary = 0;         ///< maximum number of tokens: special ones, 256 bytes, merges
  std::vector<std::string> special{};  ///< get the first ids; nothing is learnt from them where they occur in a text
  std::int64_t least_count = 2;        ///< pairs that are rarer are not merged
};

struct trained_bpe {
  std::vector<std::string> tokens;  ///< by id, in GPT-2's alphabet
  std::vector<std::string> merges;  ///< "left right", the first learnt first
  std::size_t special = 0;          ///< number of special tokens, which come first
};

/// Words are GPT-2's. The most frequent pair of neighbours is merged first, of equally frequent ones that of the lowest
/// ids, as in the `tokenizers` package; so the result depends on the texts and options alone. Each merge updates only
/// the counts that it affects. Not thread-safe.
class bpe_trainer {
 public:
  /// Throws fault_error{bad_input}: the vocabulary is too small for bytes and special tokens, or one of these is empty,
  /// given twice, or a byte.
  explicit bpe_trainer(bpe_training options);

  /// Throws fault_error{bad_input} with the position of the first byte that is not UTF-8.
  void add(std::string_view text);
  trained_bpe train() const;

 private:
  bpe_training options_;
  added_tokens special_;
  pre_tokenizer words_;
  std::unordered_map<std::string, std::int64_t, text_hash, std::equal_to<>> counts_;
};

/// A tokenizer.json that open_tokenizer() and the `tokenizers` package read.
std::string to_tokenizer_json(const trained_bpe& trained);

}  // namespace hydra
