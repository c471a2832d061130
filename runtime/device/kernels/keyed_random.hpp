#pragma once
// The integer arithmetic of keyed randomness and keyed dropout: every processor computes the same bits.

#include "runtime/device/kernels/host_device.hpp"

#include <cstdint>

namespace hydra {

inline constexpr std::uint64_t counter_step = 0x9E3779B97F4A7C15ull;

/// What the `index`-th bits of `key` are made of; of the n-th after it, it is n * counter_step more.
HYDRA_HOST_DEVICE constexpr std::uint64_t random_counter(std::uint64_t key, std::uint64_t index) noexcept {
  return key + (index + 1) * counter_step;
}

/// The 64 random bits of a counter (SplitMix64).
HYDRA_HOST_DEVICE constexpr std::uint64_t mixed_bits(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// The `index`-th 64 random bits of `key`.
HYDRA_HOST_DEVICE constexpr std::uint64_t random_bits(std::uint64_t key, std::uint64_t index) noexcept {
  return mixed_bits(random_counter(key, index));
}

/// ceil(p * 2^53) for p in [0, 1): a uniform number of 53 bits is less than p if its bits are below this value.
HYDRA_HOST_DEVICE constexpr std::uint64_t dropped_below(double p) noexcept {
  const double scaled = p * 0x1.0p53;
  const auto whole = static_cast<std::uint64_t>(scaled);
  return static_cast<double>(whole) < scaled ? whole + 1 : whole;
}

/// The mask of one application of dropout. Element i of the output is its input times `scale`, in fp32, or +0 if it is
/// dropped.
struct keyed_mask_rule {
  std::uint64_t key;
  std::uint64_t below;  ///< dropped_below(p)
  float scale;          ///< 1 / (1 - p)

  HYDRA_HOST_DEVICE constexpr bool drops(std::uint64_t i) const noexcept { return drops_at(random_counter(key, i)); }
  /// The same of the element with this counter.
  HYDRA_HOST_DEVICE constexpr bool drops_at(std::uint64_t counter) const noexcept {
    return mixed_bits(counter) >> 11 < below;
  }
};

/// The mask that drops elements with probability `p` in [0, 1).
HYDRA_HOST_DEVICE constexpr keyed_mask_rule mask_rule(double p, std::uint64_t key) noexcept {
  return {key, dropped_below(p), static_cast<float>(1 / (1 - p))};
}

}  // namespace hydra
