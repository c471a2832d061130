#pragma once
// The regular expressions by which tokenizers split a text, run by PCRE2 with the meaning they have in a
// tokenizer.json.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hydra {

/// A compiled pattern; copies share it. Thread-safe because const.
class split_pattern {
 public:
  /// In the syntax of a tokenizer.json (Oniguruma's): \s is White_Space, \w has marks, scripts are not script
  /// extensions. Throws fault_error{bad_input} for an invalid pattern or one with another meaning in PCRE2: "the
  /// pattern P: why".
  explicit split_pattern(const std::string& pattern);
  /// Matches the text literally.
  static split_pattern literal(std::string_view text);

  /// Whether the pattern may match an empty text, which a search skips.
  bool matches_empty() const noexcept;

  /// GPT-2's: contractions, letters, digits, others, each with an optional space before it; white space.
  /// Source: openai/gpt-2, src/encoder.py.
  static const std::string& gpt2();

 private:
  friend class pattern_search;
  struct compiled;
  std::shared_ptr<const compiled> compiled_;
};

/// The matches of a pattern in a text, from left to right without overlap.
class pattern_search {
 public:
  /// `text` is valid UTF-8; it and `pattern` outlive the search.
  pattern_search(const split_pattern& pattern, std::string_view text);
  ~pattern_search();
  pattern_search(const pattern_search&) = delete;
  pattern_search& operator=(const pattern_search&) = delete;

  struct found {
    std::size_t begin = 0, end = 0;
  };
  /// The next match that is not empty; nothing at the end. Throws fault_error{bad_input} if the pattern takes too many
  /// steps.
  std::optional<found> next();

 private:
  struct memory;
  int match();

  const split_pattern& pattern_;
  std::string_view text_;
  std::size_t from_ = 0;
  std::unique_ptr<memory> memory_;
};

}  // namespace hydra
