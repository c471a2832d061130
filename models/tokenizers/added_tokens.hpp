#pragma once
// Tokens that are recognised in a text before it is split into words.

#include "models/tokenizers/pre_tokenizer.hpp"
#include "models/tokenizers/text_normalizer.hpp"
#include "models/tokenizers/token_table.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// With the flags of a tokenizer.json.
struct added_token {
  std::string content;
  std::uint32_t id = 0;
  bool special = false;
  bool single_word = false;  ///< not within a word
  bool lstrip = false;       ///< includes the white space before it
  bool rstrip = false;       ///< and after it
  bool normalized = false;   ///< searched in the normalised text, else in the original text
};

/// Receives the pieces of a text.
struct piece_sink {
  std::function<void(std::string_view)> text;  ///< a piece without added tokens
  std::function<void(std::uint32_t)> token;
};

/// Finds tokens from left to right, the longest at each position. Thread-safe because const.
class token_finder {
 public:
  explicit token_finder(std::vector<added_token> tokens);
  void split(std::string_view text, const piece_sink& sink) const;

 private:
  const added_token* token_at(std::string_view text) const;

  std::vector<added_token> tokens_;
  id_by_text places_;                                  ///< indices in tokens_, by content
  std::array<std::vector<std::size_t>, 256> lengths_;  ///< by first byte, descending
};

/// All added tokens of a tokenizer: first those of the original text, then the normaliser, then the normalised ones.
class added_tokens {
 public:
  added_tokens() : added_tokens({}, {}) {}
  added_tokens(const std::vector<added_token>& tokens, normalizers normalize);

  /// Pieces of text are passed on normalised.
  void split(std::string_view text, made_texts& made, const piece_sink& sink) const;

 private:
  normalizers normalize_;
  token_finder raw_, normalized_;
};

/// A token as it is searched: normalised, if its flag says so.
std::string searched_form(const added_token& token, const normalizers& normalize);

}  // namespace hydra
