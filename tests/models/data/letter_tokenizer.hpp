#pragma once
// A very simple tokenizer: each byte is a token; the first ids are BERT's special tokens.

#include "models/tokenizers/tokenizer.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace hydra::test {

/// Ids 0..4 are [PAD], [CLS], [SEP], [MASK] and the end of a text; byte b is 5 + b.
class letter_tokenizer : public tokenizer {
 public:
  static constexpr std::uint32_t padding = 0, classify = 1, separate = 2, mask = 3, end = 4, first_byte = 5;

  /// One without special tokens; one that inserts a token before every text, as SentencePiece does.
  static letter_tokenizer plain() { return letter_tokenizer{special_tokens{}}; }
  static letter_tokenizer with_prefix() {
    letter_tokenizer t;
    t.prefixed_ = true;
    return t;
  }
  /// One that puts tokens around each text.
  static letter_tokenizer framed(std::vector<std::uint32_t> before, std::vector<std::uint32_t> after = {}) {
    letter_tokenizer t;
    t.special_.before = std::move(before);
    t.special_.after = std::move(after);
    return t;
  }

  letter_tokenizer() {
    special_.padding = padding;
    special_.classify = classify;
    special_.separate = separate;
    special_.mask = mask;
    special_.end_of_text = end;
  }

  using tokenizer::encode;
  void encode(std::string_view text, std::vector<std::uint32_t>& ids) const override {
    ++calls;
    if (prefixed_) ids.push_back(first_byte + ' ');
    for (const char c : text) ids.push_back(first_byte + static_cast<unsigned char>(c));
  }
  std::string decode(std::span<const std::uint32_t> ids) const override {
    return ids.size() == 1 && ids[0] == classify ? "<s>" : std::string{};
  }
  std::int64_t vocabulary() const override { return 261; }
  std::optional<std::uint32_t> id_of(std::string_view) const override { return {}; }
  special_tokens special() const override { return special_; }
  std::string identity() const override { return "letters"; }
  std::string describe() const override { return "tokenizer of letters"; }

  mutable std::size_t calls = 0;  ///< of encode

 private:
  explicit letter_tokenizer(special_tokens special) : special_(special) {}

  special_tokens special_{};
  bool prefixed_ = false;
};

/// Ids of a text.
inline std::vector<std::int64_t> letters(std::string_view text) {
  std::vector<std::int64_t> ids;
  for (const char c : text) ids.push_back(letter_tokenizer::first_byte + static_cast<unsigned char>(c));
  return ids;
}

}  // namespace hydra::test
