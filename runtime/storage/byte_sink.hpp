#pragma once
// Destination of a file's bytes: the file and its checksum.

#include "runtime/base/fwd.hpp"
#include "runtime/storage/sha256.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace hydra {

/// Created by durable_folder::write(), which passes it to the file's content. For one thread.
class byte_sink {
 public:
  /// The file outlives the sink.
  explicit byte_sink(writable_file& file) : file_{file} {}

  /// Appends. On return the system has the bytes: the caller's memory may change. Throws fault_error{io} if the write
  /// fails.
  void add(std::span<const std::byte> bytes);
  /// SHA-256 of all that was added, 64 hex digits. The sink cannot be used afterwards.
  std::string finish() { return hash_.finish(); }

 private:
  void write(std::span<const std::byte> bytes);

  writable_file& file_;
  sha256 hash_;
};

}  // namespace hydra
