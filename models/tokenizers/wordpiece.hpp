#pragma once
// WordPiece: BERT and similar tokenizers.

#include "models/tokenizers/file_tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

struct wordpiece_rules {
  std::uint32_t unknown = 0;       ///< the id of [UNK]
  std::string prefix = "##";       ///< of a piece that does not start a word
  std::size_t longest_word = 100;  ///< code points; a longer word is unknown
  std::string decoder_prefix = "##";
  bool cleanup = true;  ///< decoding removes blanks before punctuation and English contractions
};

/// Words are split at white space and around punctuation, then from the left into the longest pieces that are tokens; a
/// word that cannot be covered is [UNK]. Devlin et al. 2018; ids and texts are those of the `tokenizers` package.
class wordpiece final : public file_tokenizer {
 public:
  wordpiece(tokenizer_parts parts, wordpiece_rules rules);

 private:
  class call;
  std::unique_ptr<piece_encoder> begin(std::size_t bytes, made_texts& made,
                                       std::vector<std::uint32_t>& ids) const override;
  std::string decode_known(std::span<const std::uint32_t> ids) const override;

  void append(std::string_view word, std::vector<std::uint32_t>& ids) const;
  /// False: a part of the word is not covered.
  bool append_pieces(std::string_view word, std::vector<std::uint32_t>& ids) const;

  wordpiece_rules rules_;
  id_by_text inner_;         ///< pieces that do not start a word, without prefix
  std::size_t longest_ = 0;  ///< bytes of the longest token
};

}  // namespace hydra
