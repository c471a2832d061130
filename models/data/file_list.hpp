#pragma once
// The files of one part of the data.

#include <concepts>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// One file, or several that are read one after the other.
class file_list {
 public:
  file_list() = default;
  file_list(std::vector<std::filesystem::path> files) : files_(std::move(files)) {}
  template <std::convertible_to<std::filesystem::path> Path>
  file_list(const Path& file) : files_{file} {}

  bool empty() const noexcept { return files_.empty(); }
  auto begin() const noexcept { return files_.begin(); }
  auto end() const noexcept { return files_.end(); }
  /// For messages: "a.jsonl and 2 more".
  std::string string() const {
    if (files_.size() < 2) return files_.empty() ? "" : files_.front().string();
    return files_.front().string() + " and " + std::to_string(files_.size() - 1) + " more";
  }
  friend bool operator==(const file_list&, const file_list&) = default;

 private:
  std::vector<std::filesystem::path> files_;
};

}  // namespace hydra
