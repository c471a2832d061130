#pragma once
// Byte-pair encoding of characters: Llama 2, TinyLlama, the first Mistral, Gemma and similar tokenizers.

#include "models/tokenizers/bpe_rules.hpp"
#include "models/tokenizers/byte_tokens.hpp"
#include "models/tokenizers/piece_decoder.hpp"
#include "models/tokenizers/word_tokenizer.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hydra {

struct piece_bpe_rules {
  bpe_rules bpe{};
  piece_decoder decoder{{}};
  bool byte_fallback = false;    ///< characters without a token are written in bytes
  bool splits_at_space = false;  ///< no word has white space
};

/// Sennrich et al. 2016. Ids and texts are those of the `tokenizers` package (models/bpe/model.rs), except that a
/// character without a token is refused and not dropped if there is no unknown token. A word may be a whole text: it is
/// cut between characters that are neighbours in no token, because no merge crosses these places.
class piece_bpe final : public word_tokenizer {
 public:
  piece_bpe(tokenizer_parts parts, piece_bpe_rules rules);

 private:
  void append(std::string_view word, std::vector<std::uint32_t>& ids,
              std::vector<std::uint32_t>& symbols) const override;
  bool cuts() const override { return !rules_.bpe.ignore_merges; }
  void cut(std::string_view word, const pre_tokenizer::sink& part) const override;
  std::string decode_known(std::span<const std::uint32_t> ids) const override;
  bool model_joins_lines() const override { return !rules_.splits_at_space; }

  std::optional<std::uint32_t> character(char32_t c) const;
  /// One symbol for each character, or for each of its bytes.
  void spell(std::string_view word, std::vector<std::uint32_t>& symbols) const;
  void find_neighbours();

  piece_bpe_rules rules_;
  byte_tokens bytes_;
  std::vector<std::optional<std::uint32_t>> ascii_;  ///< ids by character
  std::unordered_map<char32_t, std::uint32_t> others_;
  merge_table neighbours_{0};  ///< pairs of characters within a token
};

}  // namespace hydra
