#pragma once
// A file that is being written, closed when its owner dies.

#include <cstddef>
#include <span>

namespace hydra {

/// Made by file_system::create(). Each operation throws file_error() if the system refuses it. For one thread.
class writable_file {
 public:
  virtual ~writable_file() = default;

  /// Appends the first bytes of `bytes` and says how many: at least one if there are any, maybe fewer than were given.
  /// The caller's memory may change then; only flush() has all of it in the system's hands. After flush() nothing may be
  /// written.
  virtual std::size_t write(std::span<const std::byte> bytes) = 0;
  /// No more will be written: hands over what is left.
  virtual void flush() = 0;
  /// Waits until all that was written has reached the disk. Does not cover the folder's entry of the file.
  virtual void sync() = 0;
  /// Ends the file: nothing may be called after it. Some systems report lost writes only here.
  virtual void close() = 0;
};

}  // namespace hydra
