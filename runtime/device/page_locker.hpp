#pragma once
// Host memory that a device copies from and to without a detour.

#include <cstddef>
#include <span>

namespace hydra {

/// Locks pages of the host for a device's copies (registered, "pinned" memory). Slow, and it may stall what the device does:
/// for the beginning of a run. Thread-safe.
class page_locker {
 public:
  virtual ~page_locker() = default;
  /// `pages`: whole pages, touched. Throws fault_error{out_of_memory} if the system does not lock so many.
  virtual void lock(std::span<std::byte> pages) = 0;
  virtual void unlock(std::span<std::byte> pages) noexcept = 0;
};

}  // namespace hydra
