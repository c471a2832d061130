#pragma once
// Unigram language models: T5, XLM-RoBERTa, ALBERT and similar tokenizers.

#include "models/tokenizers/byte_tokens.hpp"
#include "models/tokenizers/piece_decoder.hpp"
#include "models/tokenizers/token_trie.hpp"
#include "models/tokenizers/word_tokenizer.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

struct unigram_rules {
  std::vector<double> scores{};  ///< by id
  pre_tokenizer words{{}};
  piece_decoder decoder{{}};
  std::optional<std::uint32_t> unknown{};
  bool byte_fallback = false;    ///< unknown characters are written in bytes
  bool splits_at_space = false;  ///< no word has white space
};

/// The tokens of a word are those with the largest sum of scores. Kudo 2018; ids and texts are those of the
/// `tokenizers` package (models/unigram/model.rs).
class unigram final : public word_tokenizer {
 public:
  unigram(tokenizer_parts parts, unigram_rules rules);

 private:
  struct step;
  void append(std::string_view word, std::vector<std::uint32_t>& ids, std::vector<std::uint32_t>&) const override;
  std::string decode_known(std::span<const std::uint32_t> ids) const override;
  bool model_joins_lines() const override { return !rules_.splits_at_space; }

  std::vector<step> best_steps(std::string_view word) const;
  void append_unknown(std::string_view run, std::vector<std::uint32_t>& ids) const;

  unigram_rules rules_;
  token_trie trie_;
  byte_tokens bytes_;
  double unknown_score_ = 0;
};

}  // namespace hydra
