#pragma once
// A folder for the files of a benchmark's runs.

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace hydra::apps {

/// The destructor removes the folder and its content.
class scratch_folder {
 public:
  explicit scratch_folder(const std::filesystem::path& path) : path_(std::filesystem::absolute(path)) {
    if (std::filesystem::exists(path_))
      throw fault_error{fault_code::bad_input, fmt::format("\"{}\" exists: move it away first", path.string())};
    std::filesystem::create_directories(path_);
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  /// Absolute.
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hydra::apps
