#pragma once
// A gradient that was written back in bf16: it is widened where it is used.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hydra {

/// Number of values that are widened at a time, from a parameter's first one on: they stay in a core's cache.
inline constexpr std::size_t widened_at_once = std::size_t{1} << 14;

/// The gradient of one parameter: its sum over the micro-batches and those of its tied copies, as bits of bf16. They
/// are added in fp32, its own first. Neither the sum nor a copy in fp32 ever exists as a whole, so a gradient takes 2
/// bytes per value on the host.
struct rounded_gradient {
  std::span<const std::uint16_t> own;
  std::vector<std::span<const std::uint16_t>> tied_copies{};  ///< as long as own

  /// Values [begin, begin + to.size()).
  void widen(std::size_t begin, std::span<float> to) const;
};

/// L2 norm with ATen's kernel in fp32; for more than `widened_at_once` values the norm of the norms of such pieces.
/// Call with one intra-op thread.
float gradient_norm(const rounded_gradient& gradient);

}  // namespace hydra
