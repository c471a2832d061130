#pragma once
// Conversion from fp32 to bf16, for the copy of the masters that devices compute with, and back, for gradients.

#include <bit>
#include <cstdint>
#include <span>

namespace hydra {

/// Bits of the nearest bf16, ties to even; every NaN becomes the same NaN. As at::BFloat16 rounds.
constexpr std::uint16_t to_bf16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : nearest);
}

/// Exactly.
constexpr float from_bf16(std::uint16_t bits) noexcept { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

/// Spans must have equal length, otherwise they throw fault_error{internal}.
void to_bf16(std::span<const float> values, std::span<std::uint16_t> rounded);
void from_bf16(std::span<const std::uint16_t> rounded, std::span<float> values);
/// Adds the values to the sums, in fp32.
void add_bf16(std::span<const std::uint16_t> rounded, std::span<float> sums);

}  // namespace hydra
