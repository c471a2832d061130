#pragma once
// A file's bytes, read-only, paged in by the system as they are read.

#include <cstddef>
#include <filesystem>
#include <span>

namespace hydra {

/// Move-free owner of a mapping. Throws fault_error{io} if the file cannot be opened, {bad_input} if it is missing,
/// no regular file, or empty.
class mapped_file {
 public:
  explicit mapped_file(const std::filesystem::path& path);
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// Gives the memory of whole pages within a part of bytes() back to the system, which reads them again when somebody
  /// looks at them. Thread-safe.
  static void release(std::span<const std::byte> part) noexcept;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace hydra
