#pragma once
// A file's bytes, or those that a gzip file unpacks to.

#include "runtime/storage/mapped_file.hpp"

#include <filesystem>
#include <memory>
#include <span>

namespace hydra {

/// A mapped file. If its name ends in .gz, what it unpacks to is mapped, from a file without a name in the system's folder
/// for temporary files. Throws as mapped_file does, and fault_error{bad_input} naming a .gz that is damaged or unpacks to
/// nothing, {io} if there is no space to unpack it.
class unpacked_file {
 public:
  explicit unpacked_file(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const noexcept { return unpacked_ ? unpacked_->bytes() : file_.bytes(); }
  /// The file as it is on the disk.
  const mapped_file& packed() const noexcept { return file_; }
  void require_unchanged() const { file_.require_unchanged(); }

 private:
  mapped_file file_;
  std::unique_ptr<const mapped_file> unpacked_;
};

}  // namespace hydra
