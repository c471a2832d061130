#pragma once
// A file that is written to the disk without the page cache.

#include "runtime/storage/writable_file.hpp"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace hydra {

/// Checkpoints are large and not read again soon: the page cache would take host memory for them, and processor time
/// that the run needs (filling it costs several times as much as the copy to the disk). The page cache is used where
/// the file system requires it. For one thread.
class direct_file final : public writable_file {
 public:
  /// Creates the file; throws file_error() if the name exists.
  explicit direct_file(const std::filesystem::path& path);
  ~direct_file() override;
  direct_file(const direct_file&) = delete;
  direct_file& operator=(const direct_file&) = delete;

  std::size_t write(std::span<const std::byte> bytes) override;
  void flush() override;
  void sync() override;
  void close() override;

 private:
  struct release {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  void write_out(std::size_t n);

  std::filesystem::path path_;
  int descriptor_;
  std::unique_ptr<std::byte, release> buffer_;   ///< aligned as the disk requires; allocated only while it holds bytes
  std::size_t used_ = 0;
  std::size_t size_ = 0;                         ///< of the file, without padding
};

}  // namespace hydra
