#pragma once
// Host memory that a device can copy from and to directly.

#include <cstddef>
#include <span>

namespace hydra {

/// Locks host pages for a device's copies (registered, "pinned" memory). Slow, and may stall the device: for the start
/// of a run. Thread-safe.
class page_locker {
 public:
  virtual ~page_locker() = default;
  /// `pages`: whole pages, touched. Throws fault_error{out_of_memory} if the system refuses to lock them.
  virtual void lock(std::span<std::byte> pages) = 0;
  virtual void unlock(std::span<std::byte> pages) noexcept = 0;
};

}  // namespace hydra
