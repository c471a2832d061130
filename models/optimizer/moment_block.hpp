#pragma once
// Moments in 8 bits, block by block, as bitsandbytes stores them (Dettmers et al. 2022, "8-bit Optimizers via
// Block-wise Quantization").

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hydra {

/// Values of a parameter, from its first one on, that share a scale.
inline constexpr std::size_t moment_block_size = 256;
/// Smaller parameters have moments in fp32 (min_8bit_size of bitsandbytes).
inline constexpr std::size_t least_in_blocks = 4096;

constexpr std::size_t moment_blocks(std::size_t elements) noexcept {
  return (elements + moment_block_size - 1) / moment_block_size;
}

/// A moment of `codes.size()` values: value i is map[codes[i]] * largest[i / moment_block_size]. Zero bytes are zeros.
struct block_moment {
  std::span<std::uint8_t> codes{};
  std::span<float> largest{};  ///< absolute value of each block
};

/// Values [begin, begin + n); `begin` is a multiple of moment_block_size.
block_moment part_of(const block_moment& whole, std::size_t begin, std::size_t n);

/// What codes stand for, ascending: create_dynamic_map of bitsandbytes. Signed: -0.993 to 1, for first moments;
/// unsigned: 0 to 1, for second ones.
class moment_map {
 public:
  static const moment_map& of_signed();
  static const moment_map& of_unsigned();

  float operator[](std::uint8_t code) const noexcept { return values_[code]; }
  /// Between each value and the next one.
  const std::array<float, 255>& middles() const noexcept { return middles_; }
  /// Code of the nearest value; of the lower one half-way between two.
  std::uint8_t nearest(float x) const noexcept;

 private:
  explicit moment_map(bool is_signed);

  std::array<float, 256> values_{};
  std::array<float, 255> middles_{};
};

}  // namespace hydra
