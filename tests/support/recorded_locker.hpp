#pragma once
// A page locker for tests: it locks nothing and records every call.

#include "runtime/base/fault.hpp"
#include "runtime/device/page_locker.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

namespace hydra::test {

class recorded_locker final : public page_locker {
 public:
  /// Refuses lock number `refused` (from 0).
  explicit recorded_locker(std::size_t refused = std::numeric_limits<std::size_t>::max()) : refused_(refused) {}

  void lock(std::span<std::byte> pages) override {
    const std::lock_guard lock{mutex_};
    if (locks_.size() == refused_) throw fault_error(fault_code::out_of_memory, "no page more, as the test wants");
    locks_.push_back(pages);
    held_.push_back(pages);
  }

  void unlock(std::span<std::byte> pages) noexcept override {
    const std::lock_guard lock{mutex_};
    const auto found = std::ranges::find(held_, pages.data(), [](auto s) { return s.data(); });
    if (found == held_.end() || found->size() != pages.size()) {
      ++strangers_;
    } else {
      held_.erase(found);
    }
  }

  /// All that were ever locked, in that order, and those that still are.
  const std::vector<std::span<std::byte>>& locks() const { return locks_; }
  const std::vector<std::span<std::byte>>& held() const { return held_; }
  /// Unlocked without having been locked.
  std::size_t strangers() const { return strangers_; }

  bool holds(const std::byte* p) const {
    return std::ranges::any_of(held_, [&](auto s) { return p >= s.data() && p < s.data() + s.size(); });
  }

 private:
  std::mutex mutex_;
  std::size_t refused_;
  std::vector<std::span<std::byte>> locks_, held_;
  std::size_t strangers_ = 0;
};

}  // namespace hydra::test
