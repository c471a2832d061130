#pragma once
// A counter that never exceeds its limit and remembers its highest value: the arithmetic of every byte budget.

#include <atomic>
#include <cstdint>

namespace hydra {

/// Lock-free and thread-safe. The peak is exact: the highest value the counter ever had, not a sample of it.
class limited_counter {
 public:
  constexpr limited_counter() = default;
  constexpr explicit limited_counter(std::uint64_t limit) : limit_(limit) {}

  /// Adds `n` and returns true, or returns false and changes nothing if the limit would be exceeded.
  bool try_add(std::uint64_t n) noexcept {
    std::uint64_t before = used_.load();
    do {
      if (n > limit() - before) return false;
    } while (!used_.compare_exchange_weak(before, before + n));
    raise_peak(before + n);
    return true;
  }

  void subtract(std::uint64_t n) noexcept { used_.fetch_sub(n); }

  std::uint64_t used() const noexcept { return used_.load(); }
  std::uint64_t peak() const noexcept { return peak_.load(); }
  std::uint64_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  std::uint64_t left() const noexcept { return limit() - used(); }

  /// Resets the peak to the current value.
  void reset_peak() noexcept { peak_.store(used()); }

  /// Only while no other thread uses the counter.
  void restart(std::uint64_t limit) noexcept {
    limit_.store(limit);
    reset_peak();
  }

 private:
  void raise_peak(std::uint64_t n) noexcept {
    std::uint64_t highest = peak_.load();
    while (highest < n && !peak_.compare_exchange_weak(highest, n)) {
    }
  }

  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
  std::atomic<std::uint64_t> limit_{0};
};

}  // namespace hydra
