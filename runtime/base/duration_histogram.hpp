#pragma once
// How long something takes, of any number of times, in a fixed number of bytes.

#include "runtime/base/bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace hydra {

/// Counts by length, in classes that are at most 1/16 wide. Not thread-safe.
class duration_histogram {
 public:
  void add(duration d) noexcept;
  std::uint64_t count() const noexcept { return count_; }
  /// Exact; zero of none.
  duration mean() const noexcept;
  /// The least length that no more than a share of 1 - `q` is beyond, up to its class: never too small, and no longer than
  /// the longest. Zero of none.
  duration quantile(double q) const noexcept;

 private:
  static constexpr std::size_t parts = 16;   ///< of a power of two
  static std::size_t class_of(std::uint64_t n) noexcept;
  static std::uint64_t longest_in(std::size_t c) noexcept;

  std::array<std::uint64_t, 64 * parts> counts_{};
  std::uint64_t count_ = 0;
  duration sum_{};
  duration longest_{};
};

}  // namespace hydra
