#include "models/optimizer/moment_block.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace hydra {
namespace {

/// torch.linspace(0.1, 1, n) in fp32.
std::vector<float> boundaries(int n) {
  const float step = (1.0f - 0.1f) / static_cast<float>(n - 1);
  std::vector<float> all;
  for (int i = 0; i < n; ++i)
    all.push_back(i < n / 2 ? 0.1f + step * static_cast<float>(i) : 1.0f - step * static_cast<float>(n - 1 - i));
  return all;
}

/// The middles of 2^e (unsigned: 2^(e+1)) equal parts of [0.1, 1], times 10^(e-6): the larger the exponent, the more
/// fraction bits.
void add_values(std::vector<float>& all, int exponent, bool is_signed) {
  const std::vector<float> between = boundaries((1 << (exponent + (is_signed ? 0 : 1))) + 1);
  const auto scale = static_cast<float>(std::pow(10.0, exponent - 6));
  for (std::size_t i = 0; i + 1 < between.size(); ++i) {
    const float value = scale * ((between[i] + between[i + 1]) / 2.0f);
    all.push_back(value);
    if (is_signed) all.push_back(-value);
  }
}

}  // namespace

moment_map::moment_map(bool is_signed) {
  std::vector<float> all{0.0f, 1.0f};
  for (int exponent = 0; exponent < 7; ++exponent) add_values(all, exponent, is_signed);
  std::ranges::sort(all);
  std::ranges::copy(all, values_.begin());
  for (std::size_t i = 0; i < middles_.size(); ++i) middles_[i] = (values_[i] + values_[i + 1]) * 0.5f;
}

const moment_map& moment_map::of_signed() {
  static const moment_map map{true};
  return map;
}

const moment_map& moment_map::of_unsigned() {
  static const moment_map map{false};
  return map;
}

/// Without branches: the number of middles below x, by halves.
std::uint8_t moment_map::nearest(float x) const noexcept {
  std::size_t code = 0;
  for (std::size_t half = 128; half > 0; half /= 2) code += middles_[code + half - 1] < x ? half : 0;
  return static_cast<std::uint8_t>(code);
}

block_moment part_of(const block_moment& whole, std::size_t begin, std::size_t n) {
  if (whole.codes.empty()) return {};
  if (begin % moment_block_size != 0)
    throw fault_error{fault_code::internal, fmt::format("a part of a moment in blocks begins at value {}", begin)};
  return {whole.codes.subspan(begin, n), whole.largest.subspan(begin / moment_block_size, moment_blocks(n))};
}

}  // namespace hydra
