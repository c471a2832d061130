#include "runtime/base/duration_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hydra {

/// Below `parts` each duration has its own bucket; above, each power of two is divided into `parts` buckets.
std::size_t duration_histogram::class_of(std::uint64_t n) noexcept {
  if (n < parts) {
    return static_cast<std::size_t>(n);
  }
  const auto shift = static_cast<std::size_t>(std::bit_width(n)) - static_cast<std::size_t>(std::bit_width(parts));
  return parts * shift + static_cast<std::size_t>(n >> shift);
}

std::uint64_t duration_histogram::longest_in(std::size_t c) noexcept {
  if (c < 2 * parts) {
    return c;
  }
  const auto shift = c / parts - 1;
  return ((static_cast<std::uint64_t>(c % parts + parts) + 1) << shift) - 1;
}

void duration_histogram::add(duration d) noexcept {
  const auto positive = std::max(d, duration{});
  ++counts_[class_of(static_cast<std::uint64_t>(positive.count()))];
  ++count_;
  sum_ += positive;
  longest_ = std::max(longest_, positive);
}

duration duration_histogram::mean() const noexcept {
  return count_ == 0 ? duration{} : sum_ / static_cast<std::int64_t>(count_);
}

duration duration_histogram::quantile(double q) const noexcept {
  const auto wanted = static_cast<std::uint64_t>(std::floor(static_cast<double>(count_) * q)) + 1;
  std::uint64_t seen = 0;
  for (std::size_t c = 0; c < counts_.size(); ++c) {
    seen += counts_[c];
    if (seen >= wanted) {
      return std::min(duration{static_cast<std::int64_t>(longest_in(c))}, longest_);
    }
  }
  return longest_;
}

}  // namespace hydra
