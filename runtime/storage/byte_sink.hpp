#pragma once
// Where a file's bytes go: to the file and into its checksum.

#include "runtime/base/fwd.hpp"
#include "runtime/storage/sha256.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace hydra {

/// Made by durable_folder::write(), which hands it to the file's content. For one thread.
class byte_sink {
 public:
  /// The file outlives the sink.
  explicit byte_sink(writable_file& file) : file_{file} {}

  /// Appends. On return the bytes are in the system's hands: the caller's memory may change.
  /// Throws fault_error{io} if the file refuses them.
  void add(std::span<const std::byte> bytes);
  /// SHA-256 of all that was added, 64 hex digits. Ends the sink.
  std::string finish() { return hash_.finish(); }

 private:
  void write(std::span<const std::byte> bytes);

  writable_file& file_;
  sha256 hash_;
};

}  // namespace hydra
