#pragma once
// Reads a tokenizer's files: hashes what is read as its identity, and names file and place in errors.

#include "models/weights/model_config.hpp"
#include "runtime/storage/sha256.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hydra {

class tokenizer_source {
 public:
  /// Throws fault_error{bad_input} if it does not exist or is not a file.
  std::string bytes(const std::filesystem::path& file);
  /// Throws in addition if it is not UTF-8.
  std::string text(const std::filesystem::path& file);
  /// Throws fault_error{bad_input} with the byte if it is not a JSON object, with the key if a key occurs twice.
  model_config object(const std::filesystem::path& file);
  /// Empty if there is no such file.
  std::optional<model_config> object_if_there(const std::filesystem::path& file);

  /// What is not read from a file and decides ids, too.
  void mark(std::string_view text) { hash_.add(std::as_bytes(std::span{text})); }

  /// Hash of all that was read. Call it once, at the end.
  std::string identity() { return "sha256:" + hash_.finish(); }

 private:
  sha256 hash_;
};

/// Throws fault_error{bad_input} "FILE: PLACE: WHY".
[[noreturn]] void refuse_file(std::string_view file, std::string_view place, std::string_view why);

/// For tokenizers that Hydra does not read: how to train on their texts anyway.
inline constexpr const char* ids_instead =
    "; the `tokenizers` package can write the token ids of the texts, for data of kind = \"tokens\" "
    "(docs/checkpoints.md shows it)";

/// A token for messages, in quotes.
std::string in_quotes(std::string_view token);

}  // namespace hydra
