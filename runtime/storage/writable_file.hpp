#pragma once
// A file that is being written; closed when its owner is destroyed.

#include <cstddef>
#include <span>

namespace hydra {

/// Created by file_system::create(). Each operation throws file_error() if the system refuses it. For one thread.
class writable_file {
 public:
  virtual ~writable_file() = default;

  /// Appends the first bytes of `bytes` and returns how many: at least one if there are any, maybe fewer than were
  /// given. The caller's memory may change afterwards; but only after flush() the system has all of it. After flush()
  /// nothing may be written.
  virtual std::size_t write(std::span<const std::byte> bytes) = 0;
  /// Passes the buffered rest to the system; no more will be written.
  virtual void flush() = 0;
  /// Waits until all that was written is on the disk. Does not cover the file's entry in its folder.
  virtual void sync() = 0;
  /// Closes the file: no other operation may follow. Some systems report lost writes only here.
  virtual void close() = 0;
};

}  // namespace hydra
