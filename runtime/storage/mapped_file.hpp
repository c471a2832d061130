#pragma once
// A file's bytes, read-only, paged in by the system as they are read.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

struct stat;

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

  /// Throws fault_error{io} if the file has been written to since: of one that became shorter the end cannot be looked at any
  /// more (SIGBUS). A file that another one has replaced, or that has been removed, stays what it was.
  void require_unchanged() const;

  /// Gives the memory of whole pages within a part of bytes() back to the system, which reads them again when somebody
  /// looks at them. Thread-safe.
  static void release(std::span<const std::byte> part) noexcept;

 private:
  /// Of a file: which one it is, and what writing changes.
  struct state {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t written_s = 0, written_ns = 0;
    friend bool operator==(const state&, const state&) = default;
  };
  static state state_of(const struct stat& s) noexcept;

  std::filesystem::path path_;
  state opened_;
  std::span<const std::byte> bytes_;
};

}  // namespace hydra
