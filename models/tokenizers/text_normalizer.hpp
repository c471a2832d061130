#pragma once
// What a tokenizer makes of a text before it looks for words.

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
  /// Nothing if the text stays as it is. `text` is valid UTF-8, and so is the result.
  virtual std::optional<std::string> apply(std::string_view text) const = 0;
};

/// One after the other; none: texts stay as they are.
using normalizers = std::vector<std::shared_ptr<const text_normalizer>>;
std::optional<std::string> normalized_by(const normalizers& all, std::string_view text);

/// Canonical composition (UAX #15).
class nfc_normalizer final : public text_normalizer {
 public:
  std::optional<std::string> apply(std::string_view text) const override;
};

struct bert_normalizer_options {
  bool clean_text = true;            ///< drops control characters, makes all white space blanks
  bool handle_chinese_chars = true;  ///< puts blanks around CJK ideographs
  bool strip_accents = true;         ///< decomposes (NFD) and drops nonspacing marks
  bool lowercase = true;
};

/// Source: google-research/bert, tokenization.py, as the `tokenizers` package has it (normalizers/bert.rs).
class bert_normalizer final : public text_normalizer {
 public:
  explicit bert_normalizer(const bert_normalizer_options& options) : options_{options} {}
  std::optional<std::string> apply(std::string_view text) const override;

 private:
  bert_normalizer_options options_;
};

}  // namespace hydra
