#pragma once
// A file that exists as long as a test.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace hydra::test {

class temporary_file {
 public:
  explicit temporary_file(std::string_view contents) {
    std::string name = (std::filesystem::temp_directory_path() / "hydra-test-XXXXXX").string();
    ::close(::mkstemp(name.data()));
    path_ = name;
    std::ofstream{path_, std::ios::binary} << contents;
  }
  ~temporary_file() { std::filesystem::remove(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hydra::test
