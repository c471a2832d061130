#pragma once
// Reading a tokenizer's files: what is read is remembered as its identity, complaints name file and place.

#include "models/weights/model_config.hpp"
#include "runtime/storage/sha256.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace hydra {

class tokenizer_source {
 public:
  /// Throws fault_error{bad_input} if it is not there, no file, or not UTF-8.
  std::string text(const std::filesystem::path& file);
  /// Throws fault_error{bad_input} if it is no JSON object, with the byte, or has a key twice, with the key.
  model_config object(const std::filesystem::path& file);
  /// Nothing if there is no such file.
  std::optional<model_config> object_if_there(const std::filesystem::path& file);

  /// Hash of all that was read. To be asked once, at the end.
  std::string identity() { return "sha256:" + hash_.finish(); }

 private:
  sha256 hash_;
};

/// Throws fault_error{bad_input} "FILE: PLACE: WHY".
[[noreturn]] void refuse_file(std::string_view file, std::string_view place, std::string_view why);

/// For tokenizers that Hydra does not read: how their texts can be trained on nevertheless.
inline constexpr const char* ids_instead =
    "; the `tokenizers` package can write the token ids of the texts, for data of kind = \"tokens\" "
    "(docs/tutorial.md shows it)";

/// A token for messages, in quotes and without characters that a terminal would obey.
std::string in_quotes(std::string_view token);

}  // namespace hydra
