#pragma once
// All records of a file as tokens, which are kept in the token cache.

#include "models/data/record_encoding.hpp"
#include "models/data/token_list.hpp"

namespace hydra {

/// Immutable and cheap to copy. Keeps 8 bytes per record.
class record_tokens {
 public:
  record_tokens() = default;
  /// Of each record its number of tokens, then its words.
  explicit record_tokens(token_list words);

  /// Uses the token cache. Throws fault_error{bad_input} with file and line for a
  /// record that cannot be encoded.
  static record_tokens of(const record_list& records, const record_encoding& encoding, const tokenizer& by);

  std::size_t size() const noexcept { return begins_ ? begins_->size() : 0; }
  /// Tokens of a record.
  std::size_t length(std::size_t record) const noexcept { return static_cast<std::size_t>(words_[(*begins_)[record]]); }
  record_word word(std::size_t record, std::size_t i) const noexcept {
    return static_cast<record_word>(words_[(*begins_)[record] + 1 + i]);
  }
  /// One more than the largest id; 0 if there is none. Reads all of them.
  std::int64_t observed_vocabulary() const noexcept;
  /// Whether it has lost tokens to fit into a window.
  bool shortened(std::size_t record) const noexcept {
    return length(record) > 0 && (word(record, 0) & shortened_record) != 0;
  }
  void require_unchanged() const { words_.require_unchanged(); }

 private:
  token_list words_;
  std::shared_ptr<const std::vector<std::uint64_t>> begins_;  ///< of the length of each record in words_
};

}  // namespace hydra
