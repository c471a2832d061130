#pragma once
// The 4-bit NormalFloat of QLoRA (Dettmers et al. 2023, section 3, appendix E), with the values and the rounding of
// bitsandbytes: quantize_4bit and dequantize_4bit of quant_type "nf4", blocks of 64, absolute maxima in fp32. Standard
// library only.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hydra {

/// Values in the order of memory that have one scale.
inline constexpr std::size_t nf4_block = 64;

/// A code is an index into these multiples of a block's scale.
inline constexpr std::array<float, 16> nf4_table{-1.0F,
                                                 -0.6961928009986877F,
                                                 -0.5250730514526367F,
                                                 -0.39491748809814453F,
                                                 -0.28444138169288635F,
                                                 -0.18477343022823334F,
                                                 -0.09105003625154495F,
                                                 0.0F,
                                                 0.07958029955625534F,
                                                 0.16093020141124725F,
                                                 0.24611230194568634F,
                                                 0.33791524171829224F,
                                                 0.44070982933044434F,
                                                 0.5626170039176941F,
                                                 0.7229568362236023F,
                                                 1.0F};

constexpr std::size_t nf4_scales(std::size_t values) noexcept { return (values + nf4_block - 1) / nf4_block; }
constexpr std::size_t nf4_code_bytes(std::size_t values) noexcept { return (values + 1) / 2; }

/// `scales`: nf4_scales() largest magnitudes. `codes`: nf4_code_bytes(), the first of two values in the upper half.
void to_nf4(std::span<const float> values, std::span<float> scales, std::span<std::uint8_t> codes);
/// Multiplied in fp32.
void from_nf4(std::span<const float> scales, std::span<const std::uint8_t> codes, std::span<float> values);

}  // namespace hydra
