#pragma once
// Long lists of token ids, each a vector in memory or a mapped file.

#include "models/data_source.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// Immutable and cheap to copy: copies share the bytes.
class token_list {
 public:
  token_list() = default;
  explicit token_list(std::vector<std::uint32_t> ids);
  /// Ids in a file.
  token_list(std::shared_ptr<const mapped_file> file, std::span<const std::uint32_t> ids, std::string digest = {})
      : file_(std::move(file)), words_(ids), digest_(std::move(digest)) {}

  /// Each byte of a UTF-8 text is a token. Throws as mapped_file does, and fault_error{bad_input} with the position
  /// of the first byte that is not UTF-8.
  static token_list bytes_of(const std::filesystem::path& text);
  /// Little-endian uint32 ids. Throws as mapped_file does, and fault_error{bad_input} if the size is not a multiple of
  /// 4 or an id is not below `vocabulary`, with its position.
  static token_list ids_of(const std::filesystem::path& file, std::int64_t vocabulary);

  /// mapped_file::require_unchanged(), if the ids are in a file.
  void require_unchanged() const {
    if (file_) file_->require_unchanged();
  }

  /// SHA-256 of the ids as they are in memory, 64 hex digits. Reads all of them, unless the list was created with it.
  std::string digest() const;

  /// One more than the largest id; 0 if there is none. Reads all of them.
  std::int64_t observed_vocabulary() const noexcept;

  std::size_t size() const noexcept { return words_.size() + bytes_.size(); }
  std::int64_t operator[](std::size_t i) const noexcept {
    return words_.empty() ? std::to_integer<std::int64_t>(bytes_[i]) : words_[i];
  }

 private:
  /// the mapping of `words_` or `bytes_`; null if the ids are in memory
  std::shared_ptr<const mapped_file> file_;
  /// the ids of `words_` in memory; null if they are in a file
  std::shared_ptr<const std::vector<std::uint32_t>> ids_;
  std::span<const std::uint32_t> words_;  ///< either these
  std::span<const std::byte> bytes_;      ///< or these
  std::string digest_;                    ///< empty: not computed yet
};

/// Tokens of both parts, and the data that they come from.
struct token_parts {
  std::string name;  ///< for messages
  token_list train{};
  token_list validation{};  ///< may be empty
  std::int64_t vocabulary = 0;
  std::vector<std::string> notes{};  ///< about their files, and how they were chosen

  const token_list& of(split part) const noexcept { return part == split::train ? train : validation; }
  void require_unchanged() const {
    train.require_unchanged();
    validation.require_unchanged();
  }
};

}  // namespace hydra
