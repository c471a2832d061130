#pragma once
// A file that a user has named, open for reading. Every file is opened here: what is not a regular file could make the
// reader wait (a pipe) or never end (a device).

#include <cstdint>
#include <filesystem>
#include <istream>
#include <span>
#include <streambuf>
#include <string_view>
#include <vector>

namespace hydra {

/// Throws fault_error `OPTION PATH: WHY`: {bad_input} if nothing is there, if it is a folder, pipe, socket or device,
/// or for a path that leads nowhere or may not be read; {io} for any other reason of the system.
class regular_file {
 public:
  explicit regular_file(std::filesystem::path path, std::string_view option = {});
  ~regular_file();
  regular_file(regular_file&& other) noexcept;
  regular_file& operator=(regular_file&&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  int descriptor() const noexcept { return descriptor_; }
  std::uint64_t size() const noexcept { return size_; }  ///< in bytes, when it was opened

  /// As many bytes as there are from a position on, and fit; none at the end. Throws fault_error{io}.
  std::size_t read(std::span<char> into, std::uint64_t at) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// The same as a stream. A read that fails throws its fault_error{io} out of the function that reads.
class file_stream final : public std::istream {
 public:
  explicit file_stream(std::filesystem::path path, std::string_view option = {});

 private:
  class buffer final : public std::streambuf {
   public:
    explicit buffer(regular_file file);

   private:
    int_type underflow() override;

    regular_file file_;
    std::vector<char> bytes_;
    std::uint64_t at_ = 0;
  };

  buffer buffer_;
};

}  // namespace hydra
