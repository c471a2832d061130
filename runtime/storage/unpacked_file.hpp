#pragma once
// A file's bytes, or those that a gzip file unpacks to.

#include "runtime/storage/mapped_file.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>

namespace hydra {

/// A mapped file. If its name ends in .gz, what it unpacks to is mapped, from a file without a name in the system's
/// folder for temporary files. Throws as mapped_file does, and fault_error{bad_input} naming a .gz that is damaged,
/// unpacks to nothing, to more than half of what is free in that folder, or to more than `most` bytes; {io} if it
/// cannot be written there.
class unpacked_file {
 public:
  explicit unpacked_file(const std::filesystem::path& path,
                         std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

  std::span<const std::byte> bytes() const noexcept { return unpacked_ ? unpacked_->bytes() : file_.bytes(); }
  /// The file as it is on the disk.
  const mapped_file& packed() const noexcept { return file_; }
  void require_unchanged() const { file_.require_unchanged(); }

 private:
  mapped_file file_;
  std::unique_ptr<const mapped_file> unpacked_;
};

}  // namespace hydra
