#include "models/optimizer/blockwise_update.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace hydra {
namespace {

using block_values = std::array<float, moment_block_size>;

struct moment_values {
  block_values first, second;
};

void widen(const moment_map& map, std::span<const std::uint8_t> codes, float largest, block_values& values) {
  for (std::size_t i = 0; i < codes.size(); ++i) values[i] = map[codes[i]] * largest;
}

void move(const blockwise_constants& c, std::span<const float> gradients, moment_values& moments) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const float g = gradients[i] * c.clip;
    const bool finite = std::isfinite(gradients[i]);
    moments.first[i] = finite ? moments.first[i] * c.b1 + c.ob1 * g : 0.0f;
    moments.second[i] = finite ? moments.second[i] * c.b2 + c.ob2 * g * g : 0.0f;
  }
}

void step(const blockwise_constants& c, std::span<float> parameters, std::span<const float> gradients,
          const moment_values& moments) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const float stepped =
        (parameters[i] + c.step * (moments.first[i] / (std::sqrt(moments.second[i]) + c.eps))) * c.decay;
    if (std::isfinite(gradients[i])) parameters[i] = stepped;
  }
}

float largest_of(std::span<const float> values) {
  float largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(x));
  return largest;
}

/// A block of zeros is a block of zero bytes.
template <class Code>
void narrow(std::span<const float> values, std::span<std::uint8_t> codes, float& largest, const Code& code) {
  largest = largest_of(values);
  for (std::size_t i = 0; i < values.size(); ++i) codes[i] = largest == 0 ? std::uint8_t{0} : code(values[i] / largest);
}

/// The sign of a first moment is kept: 0 has a positive one.
std::uint8_t signed_code(float x) {
  const moment_map& map = moment_map::of_signed();
  const std::uint8_t code = map.nearest(x);
  if (std::signbit(map[code]) == std::signbit(x)) return code;
  return static_cast<std::uint8_t>(x > 0 ? code + 1 : code - 1);
}

void update_block(const blockwise_constants& c, std::span<float> parameters, std::span<const float> gradients,
                  const block_moment& first, const block_moment& second) {
  moment_values moments;
  widen(moment_map::of_signed(), first.codes, first.largest[0], moments.first);
  widen(moment_map::of_unsigned(), second.codes, second.largest[0], moments.second);
  move(c, gradients, moments);
  step(c, parameters, gradients, moments);
  narrow(std::span{moments.first}.first(parameters.size()), first.codes, first.largest[0], signed_code);
  narrow(std::span{moments.second}.first(parameters.size()), second.codes, second.largest[0],
         [](float x) { return moment_map::of_unsigned().nearest(x); });
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
