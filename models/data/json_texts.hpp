#pragma once
// The records of a JSON file as texts: its lines, or the elements of the one array that it is.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace hydra {

struct json_record_text {
  std::string_view text;
  std::uint64_t begin = 0;  ///< its first byte in the file
  std::size_t number = 0;   ///< of the line, or of the element, from 1 on
};

/// Of a mapped file, whose text outlives this.
class json_texts {
 public:
  json_texts() = default;
  explicit json_texts(std::string_view all);

  /// Whether the file begins with a '['.
  bool is_array() const noexcept { return array_; }
  /// Each line that is not blank, or each element, until `sink` returns false. Throws as json_array does.
  void each(const std::filesystem::path& file, const std::function<bool(const json_record_text&)>& sink) const;
  /// What begins at a byte.
  std::string_view at(const std::filesystem::path& file, std::uint64_t begin) const;
  /// Its number, for messages: the file is read up to there.
  std::size_t number_of(const std::filesystem::path& file, std::uint64_t begin) const;

 private:
  std::string_view line_at(std::uint64_t begin) const;

  std::string_view all_{};
  bool array_ = false;
};

}  // namespace hydra
