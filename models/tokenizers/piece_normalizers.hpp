#pragma once
// Normalisers of tokenizers that come from SentencePiece: blanks, prefixes, and tables of characters.

#include "models/tokenizers/text_normalizer.hpp"
#include "models/tokenizers/text_replacement.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hydra {

/// Puts a prefix before a text that is not empty.
class prepend_normalizer final : public text_normalizer {
 public:
  explicit prepend_normalizer(std::string prefix) : prefix_{std::move(prefix)} {}
  std::optional<std::string> apply(std::string_view text) const override;

 private:
  std::string prefix_;
};

class replace_normalizer final : public text_normalizer {
 public:
  explicit replace_normalizer(text_replacement rule) : rule_{std::move(rule)} {}
  std::optional<std::string> apply(std::string_view text) const override { return rule_.apply(text); }

 private:
  text_replacement rule_;
};

/// Drops white space at the ends of a text.
class strip_normalizer final : public text_normalizer {
 public:
  strip_normalizer(bool left, bool right) : left_{left}, right_{right} {}
  std::optional<std::string> apply(std::string_view text) const override;

 private:
  bool left_, right_;
};

/// SentencePiece's table of replacements ("precompiled_charsmap"), applied as the `tokenizers` package applies it: to
/// graphemes of up to five bytes, else to code points; the shortest prefix that has an entry decides for the whole.
/// The table: 32 bits with the trie's size in bytes; the trie, a double array of S. Yata's Darts-clone; texts that end
/// in a zero byte. Little-endian. Sources: spm_precompiled and normalizers/precompiled.rs of Hugging Face.
class precompiled_normalizer final : public text_normalizer {
 public:
  /// Throws fault_error{bad_input}: sizes are wrong, or the texts are not UTF-8.
  explicit precompiled_normalizer(std::string_view table);
  std::optional<std::string> apply(std::string_view text) const override;

 private:
  std::optional<std::string_view> entry(std::string_view key) const noexcept;
  void append(std::string& text, std::string_view part) const;

  std::vector<std::uint32_t> trie_;
  std::string texts_;
  std::array<std::optional<std::string>, 128> ascii_{};  ///< what becomes of a character
};

}  // namespace hydra
