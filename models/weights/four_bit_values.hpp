#pragma once
// Numbers in 4 bits as bitsandbytes stores them, and as fp32.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace hydra {

/// What the 16 codes stand for.
enum class four_bit_type : std::uint8_t {
  nf4,  ///< nf4_table
  fp4   ///< a sign, two bits of exponent, one of fraction
};

/// "nf4", as bitsandbytes writes it.
std::string_view to_string(four_bit_type type) noexcept;
/// Multiples of a block's scale, by code.
const std::array<float, 16>& table_of(four_bit_type type) noexcept;

/// Of double quantisation: the scale of block b is table[its byte] * scales[b / group] + offset.
struct nested_scales {
  std::span<const std::byte> table;   ///< 256 of fp32
  std::span<const std::byte> scales;  ///< of fp32
  std::size_t group = 256;            ///< blocks that have one of them
  float offset = 0;
};

/// Bytes of a file's mapping (safetensors_file), which need no alignment.
struct four_bit_values {
  four_bit_type type = four_bit_type::nf4;
  std::size_t block = 64;             ///< values in the order of memory that have one scale: a power of two, 32 to 4096
  std::span<const std::byte> codes;   ///< two in a byte, the first in its upper half
  std::span<const std::byte> scales;  ///< of each block: fp32; with `nested` a byte
  std::optional<nested_scales> nested{};
};

/// Writes table_of()[code] * scale, the products in fp32 with which bitsandbytes' gemm_4bit computes (its
/// dequantize_4bit then rounds them to the type that the weight had before it was quantised). Otherwise as
/// widen_mapped() of stored_values.hpp: uses all cores, releases what was read, returns how many values are not finite.
std::size_t widen_mapped(const four_bit_values& from, std::span<float> to);

/// Gets some of the values, of which the first is the `begin`-th.
using take_part = std::function<void(std::size_t begin, std::span<const float> part)>;

/// The same for all `values` of them, part by part: `take` is called by many threads at once.
std::size_t widen_parts(const four_bit_values& from, std::size_t values, const take_part& take);

}  // namespace hydra
