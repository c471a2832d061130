#include "models/frozen/nf4.hpp"

#include "models/optimizer/vector_clones.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hydra {
namespace {

/// What bitsandbytes puts in place of the scale of zeros.
constexpr float least_scale = 1e-38F;

/// Between two entries of the table; a value on a border belongs to the lower one.
constexpr auto borders = [] {
  std::array<float, 15> middles{};
  for (std::size_t i = 0; i < middles.size(); ++i) middles[i] = (nf4_table[i] + nf4_table[i + 1]) / 2;
  return middles;
}();

/// Of values that are divided by their scale.
HYDRA_VECTOR_CLONES void find_codes(std::size_t n, const float* __restrict scaled, std::uint8_t* __restrict codes) {
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t code = 0;
    for (const float border : borders) code += border >= scaled[i] ? 0 : 1;
    codes[i] = static_cast<std::uint8_t>(code);
  }
}

/// NaN if one of them is: the block is NaN then, as a plain weight would be.
float largest_of(std::span<const float> values) {
  float largest = 0;
  bool all_numbers = true;
  for (const float v : values) {
    largest = std::max(largest, std::abs(v));
    all_numbers = all_numbers && !std::isnan(v);
  }
  return all_numbers ? largest : std::numeric_limits<float>::quiet_NaN();
}

/// bitsandbytes multiplies whole blocks by the reciprocal, and divides a last one that is not whole.
float scale_block(std::span<const float> values, std::span<float> scaled) {
  float largest = largest_of(values);
  const float used = std::max(largest, least_scale);
  const bool whole = values.size() == nf4_block;
  const float reciprocal = 1.0F / used;
  for (std::size_t i = 0; i < values.size(); ++i)
    scaled[i] = std::clamp(whole ? values[i] * reciprocal : values[i] / used, -1.0F, 1.0F);
  return whole ? largest : used;
}

float store_block(std::span<const float> values, std::span<std::uint8_t> codes) {
  std::array<float, nf4_block> scaled{};
  std::array<std::uint8_t, nf4_block> each{};
  const float scale = scale_block(values, scaled);
  find_codes(nf4_block, scaled.data(), each.data());
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<std::uint8_t>(each[2 * i] << 4 | each[2 * i + 1]);
  return scale;
}

void check_lengths(std::size_t values, std::size_t scales, std::size_t codes) {
  if (scales != nf4_scales(values) || codes != nf4_code_bytes(values))
    throw fault_error{fault_code::internal,
                      fmt::format("{} values of nf4 with {} scales and {} bytes of codes", values, scales, codes)};
}

/// A block: that of the buffers of the whole.
template <class T>
std::span<T> block_of(std::span<T> all, std::size_t block, std::size_t each) {
  return all.subspan(block * each, std::min(each, all.size() - block * each));
}

}  // namespace

void to_nf4(std::span<const float> values, std::span<float> scales, std::span<std::uint8_t> codes) {
  check_lengths(values.size(), scales.size(), codes.size());
  tbb::parallel_for(tbb::blocked_range<std::size_t>{0, scales.size(), 1024}, [&](const auto& range) {
    for (std::size_t b = range.begin(); b < range.end(); ++b)
      scales[b] = store_block(block_of(values, b, nf4_block), block_of(codes, b, nf4_block / 2));
  });
}

void from_nf4(std::span<const float> scales, std::span<const std::uint8_t> codes, std::span<float> values) {
  check_lengths(values.size(), scales.size(), codes.size());
  for (std::size_t b = 0; b < scales.size(); ++b) {
    const std::span<const std::uint8_t> pairs = block_of(codes, b, nf4_block / 2);
    const std::span<float> to = block_of(values, b, nf4_block);
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = nf4_table[i % 2 == 0 ? pairs[i / 2] >> 4 : pairs[i / 2] & 15] * scales[b];
  }
}

}  // namespace hydra
