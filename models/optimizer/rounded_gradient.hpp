#pragma once
// A gradient whose sums were written back in bf16: they are widened where they are used.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hydra {

/// Number of values that are widened at a time, from a parameter's first one on: they stay in a core's cache.
inline constexpr std::size_t widened_at_once = std::size_t{1} << 14;

/// The gradient of one parameter: sums over micro-batches, as bits of bf16, that are added in fp32 in their order.
/// Neither the total nor a sum in fp32 ever exists as a whole, so each takes 2 bytes per value on the host.
struct rounded_gradient {
  std::vector<std::span<const std::uint16_t>> sums;   ///< at least one; equally long

  std::size_t size() const noexcept { return sums.front().size(); }

  /// Values [begin, begin + to.size()).
  void widen(std::size_t begin, std::span<float> to) const;
};

/// L2 norm with ATen's kernel in fp32; for more than `widened_at_once` values the norm of the norms of such pieces.
/// Call with one intra-op thread.
float gradient_norm(const rounded_gradient& gradient);

}  // namespace hydra
