#pragma once
// A folder of its own for one test.

#include <filesystem>
#include <string>

namespace hydra::apps {

class temporary_folder {
 public:
  temporary_folder();
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Writes a file and returns its path.
  std::filesystem::path write(const std::string& name, const std::string& text) const;
  /// The text of a file; empty if it is not there.
  std::string read(const std::filesystem::path& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace hydra::apps
