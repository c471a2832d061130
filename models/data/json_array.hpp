#pragma once
// The elements of a JSON array, one after the other, without the array in memory.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace hydra {

/// An element ends where its brackets and texts do; whether it is JSON is for the parser to say. Of what is no array
/// nothing is left over in silence: next() throws fault_error{bad_input} with the file, the element and the byte.
class json_array {
 public:
  /// `all`: the file's text, of which the first character that is no blank is a '['. Both outlive this.
  json_array(const std::filesystem::path& file, std::string_view all);

  /// None behind the last one.
  std::optional<std::string_view> next();
  /// Of the element that next() has returned, from 1 on.
  std::size_t number() const noexcept { return number_; }

  /// The element that begins at a byte of such a text.
  static std::string_view element_at(const std::filesystem::path& file, std::string_view all, std::size_t begin);

 private:
  bool here(char c) const noexcept { return at_ < all_.size() && all_[at_] == c; }
  void skip_blanks() noexcept;
  void finish();
  void skip_value();
  void skip_brackets();
  void skip_text();
  [[noreturn]] void refuse_here(const std::string& expected) const;

  const std::filesystem::path& file_;
  std::string_view all_;
  std::size_t at_ = 0, begin_ = 0, number_ = 0;
};

}  // namespace hydra
