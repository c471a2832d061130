#pragma once
// A file's bytes, mapped read-only.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

struct stat;

namespace hydra {

/// Owner of a mapping, not movable. Throws as regular_file does, fault_error{bad_input} if the file is empty, or is a
/// pointer of Git LFS, and {io} if it cannot be mapped.
class mapped_file {
 public:
  explicit mapped_file(const std::filesystem::path& path);
  /// Of a regular file that is open, which may be closed then; messages name `path`.
  mapped_file(const std::filesystem::path& path, int descriptor);
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// Throws fault_error{io} if the file has been written to since: the end of a file that became shorter cannot be read
  /// any more (SIGBUS). A file that was replaced by another one, or removed, stays readable and unchanged.
  void require_unchanged() const;

  /// Returns the memory of the whole pages within a part of bytes() to the system; they are read from the file again at
  /// their next use. Thread-safe.
  static void release(std::span<const std::byte> part) noexcept;

 private:
  /// Identity of a file, and the attributes that a write changes.
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
