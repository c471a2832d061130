#pragma once
// Host pages that are locked for as long as this object exists.

#include "runtime/base/bytes.hpp"
#include "runtime/device/page_locker.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace hydra {

class page_lock {
 public:
  /// Locks the pages, which have been touched, in pieces of `piece` bytes (whole pages) with every locker; the lockers
  /// outlive it. Throws what a locker threw, as fault_error with the total size; then nothing is locked.
  page_lock(std::span<std::byte> pages, std::vector<page_locker*> lockers, byte_count piece);
  ~page_lock() { unlock(); }
  page_lock(const page_lock&) = delete;
  page_lock& operator=(const page_lock&) = delete;

  /// In reverse order.
  void unlock() noexcept;
  /// Leaves the pages locked forever: for lockers whose device hangs.
  void abandon() noexcept { locked_.clear(); }

 private:
  std::vector<std::pair<page_locker*, std::span<std::byte>>> locked_;
};

}  // namespace hydra
