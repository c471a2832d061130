#include "models/optimizer/blockwise_update.hpp"

#include "models/optimizer/vector_clones.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hydra {
namespace {

/// A block of fp32 moments while it is stepped.
struct block_values {
  std::array<float, moment_block_size> first, second;
};

HYDRA_VECTOR_CLONES void widen(const moment_map& map, std::size_t n, const std::uint8_t* __restrict codes,
                               float largest, float* __restrict values) {
  for (std::size_t i = 0; i < n; ++i) values[i] = map[codes[i]] * largest;
}

HYDRA_VECTOR_CLONES void move(const blockwise_constants& c, std::size_t n, const float* __restrict gradients,
                              float* __restrict first, float* __restrict second) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradients[i] * c.clip;
    const bool finite = std::isfinite(gradients[i]);
    const float m = first[i] * c.b1 + c.ob1 * g, v = second[i] * c.b2 + c.ob2 * g * g;
    first[i] = finite ? m : 0.0f;
    second[i] = finite ? v : 0.0f;
  }
}

HYDRA_VECTOR_CLONES void step(const blockwise_constants& c, std::size_t n, float* __restrict p,
                              const float* __restrict gradients, const float* __restrict first,
                              const float* __restrict second) {
  for (std::size_t i = 0; i < n; ++i) {
    const float stepped = (p[i] + c.step * (first[i] / (std::sqrt(second[i]) + c.eps))) * c.decay;
    p[i] = std::isfinite(gradients[i]) ? stepped : p[i];
  }
}

/// By the bits, which are ordered as the absolute values are.
HYDRA_VECTOR_CLONES float largest_of(std::size_t n, const float* __restrict values) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::bit_cast<std::int32_t>(values[i]) & 0x7fffffff);
  return std::bit_cast<float>(largest);
}

/// One halving for each value: `codes` are multiples of 2 * `half`, and become multiples of `half`.
HYDRA_VECTOR_CLONES void halve(const float* __restrict middles, std::int32_t half, std::size_t n,
                               const float* __restrict values, std::int32_t* __restrict codes) {
  for (std::size_t i = 0; i < n; ++i) codes[i] += middles[codes[i] + half - 1] < values[i] ? half : 0;
}

/// A negative value that is nearest to 0 gets the code below: 0 has a positive sign, and the sign of a first moment is
/// kept.
HYDRA_VECTOR_CLONES void keep_signs(std::int32_t zero, std::size_t n, const float* __restrict values,
                                    std::int32_t* __restrict codes) {
  for (std::size_t i = 0; i < n; ++i)
    codes[i] -= (codes[i] == zero) & (std::bit_cast<std::int32_t>(values[i]) < 0) ? 1 : 0;
}

HYDRA_VECTOR_CLONES void divide(std::size_t n, float by, const float* __restrict values, float* __restrict shares) {
  for (std::size_t i = 0; i < n; ++i) shares[i] = values[i] / by;
}

/// As moment_map::nearest, all values at a time.
void code_values(const moment_map& map, std::span<const float> values, float largest, std::span<std::uint8_t> to) {
  std::array<float, moment_block_size> shares;
  std::array<std::int32_t, moment_block_size> codes{};
  divide(values.size(), largest, values.data(), shares.data());
  for (std::int32_t half = 128; half > 0; half /= 2)
    halve(map.middles().data(), half, values.size(), shares.data(), codes.data());
  const std::int32_t zero = map.nearest(0);
  if (zero > 0) keep_signs(zero, values.size(), shares.data(), codes.data());
  std::ranges::copy(std::span{codes}.first(values.size()), to.begin());
}

/// A block of zeros is a block of zero bytes.
void narrow(const moment_map& map, std::span<const float> values, const block_moment& to) {
  to.largest[0] = largest_of(values.size(), values.data());
  if (to.largest[0] == 0) {
    std::ranges::fill(to.codes, std::uint8_t{0});
  } else {
    code_values(map, values, to.largest[0], to.codes);
  }
}

void update_block(const blockwise_constants& c, std::span<float> parameters, std::span<const float> gradients,
                  const block_moment& first, const block_moment& second) {
  const std::size_t n = parameters.size();
  const moment_map &of_first = moment_map::of_signed(), &of_second = moment_map::of_unsigned();
  block_values moments;
  widen(of_first, n, first.codes.data(), first.largest[0], moments.first.data());
  widen(of_second, n, second.codes.data(), second.largest[0], moments.second.data());
  move(c, n, gradients.data(), moments.first.data(), moments.second.data());
  step(c, n, parameters.data(), gradients.data(), moments.first.data(), moments.second.data());
  narrow(of_first, std::span{moments.first}.first(n), first);
  narrow(of_second, std::span{moments.second}.first(n), second);
}

}  // namespace

void apply_blockwise_adamw(const blockwise_constants& c, std::span<float> parameters, std::span<const float> gradients,
                           const block_moment& first, const block_moment& second) {
  for (std::size_t begin = 0; begin < parameters.size(); begin += moment_block_size) {
    const std::size_t n = std::min(moment_block_size, parameters.size() - begin);
    update_block(c, parameters.subspan(begin, n), gradients.subspan(begin, n), part_of(first, begin, n),
                 part_of(second, begin, n));
  }
}

}  // namespace hydra
