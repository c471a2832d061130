#pragma once
// A histogram of any number of durations in a fixed number of bytes.

#include "runtime/base/bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace hydra {

/// Counts durations in buckets that are at most 1/16 wide. Not thread-safe.
class duration_histogram {
 public:
  void add(duration d) noexcept;
  std::uint64_t count() const noexcept { return count_; }
  /// Exact; zero if the histogram is empty.
  duration mean() const noexcept;
  /// The quantile `q`, rounded up to the end of its bucket: never too small, and never above the longest duration. Zero
  /// if the histogram is empty.
  duration quantile(double q) const noexcept;

 private:
  static constexpr std::size_t parts = 16;   ///< buckets per power of two
  static std::size_t class_of(std::uint64_t n) noexcept;
  static std::uint64_t longest_in(std::size_t c) noexcept;

  std::array<std::uint64_t, 64 * parts> counts_{};
  std::uint64_t count_ = 0;
  duration sum_{};
  duration longest_{};
};

}  // namespace hydra
