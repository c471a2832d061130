#pragma once
// Host pages that are locked for as long as this lives.

#include "runtime/base/bytes.hpp"
#include "runtime/device/page_locker.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace hydra {

class page_lock {
 public:
  /// Locks the pages, which are touched, in pieces of `piece` bytes (whole pages) with every locker, which live longer.
  /// Throws what a locker threw, as fault_error with the size of all; then nothing is locked.
  page_lock(std::span<std::byte> pages, std::vector<page_locker*> lockers, byte_count piece);
  ~page_lock() { unlock(); }
  page_lock(const page_lock&) = delete;
  page_lock& operator=(const page_lock&) = delete;

  /// The last ones first.
  void unlock() noexcept;
  /// The pages stay locked for ever: for lockers whose device hangs.
  void abandon() noexcept { locked_.clear(); }

 private:
  std::vector<std::pair<page_locker*, std::span<std::byte>>> locked_;
};

}  // namespace hydra
