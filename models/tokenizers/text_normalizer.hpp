#pragma once
// How a tokenizer changes a text before it is split into words.

#include "models/tokenizers/unicode.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Thread-safe because const.
class text_normalizer {
 public:
  virtual ~text_normalizer() = default;
  /// Empty if the text is unchanged. `text` is valid UTF-8, and so is the result.
  virtual std::optional<std::string> apply(std::string_view text) const = 0;
};

/// Applied one after the other; none: texts are unchanged.
using normalizers = std::vector<std::shared_ptr<const text_normalizer>>;
std::optional<std::string> normalized_by(const normalizers& all, std::string_view text);

/// A normal form of UAX #15.
class form_normalizer final : public text_normalizer {
 public:
  explicit form_normalizer(normal_form form) : form_{form} {}
  std::optional<std::string> apply(std::string_view text) const override;

 private:
  normal_form form_;
};

class lowercase_normalizer final : public text_normalizer {
 public:
  std::optional<std::string> apply(std::string_view text) const override;
};

/// Drops marks (M*); those of precomposed letters only after a decomposition.
class accent_stripper final : public text_normalizer {
 public:
  std::optional<std::string> apply(std::string_view text) const override;
};

struct bert_normalizer_options {
  bool clean_text = true;            ///< drops control characters, replaces white space by blanks
  bool handle_chinese_chars = true;  ///< inserts blanks around CJK ideographs
  bool strip_accents = true;         ///< decomposes (NFD) and drops nonspacing marks
  bool lowercase = true;
};

/// Source: google-research/bert, tokenization.py, as implemented in the `tokenizers` package (normalizers/bert.rs).
class bert_normalizer final : public text_normalizer {
 public:
  explicit bert_normalizer(const bert_normalizer_options& options) : options_{options} {}
  std::optional<std::string> apply(std::string_view text) const override;

 private:
  bert_normalizer_options options_;
};

}  // namespace hydra
