// 4-bit values: tests/python/base_formats.py compares them with bitsandbytes.

#include "models/frozen/nf4.hpp"
#include "models/frozen/base_encoding.hpp"
#include "models/optimizer/bf16.hpp"
#include "models/random.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/core/Tensor.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

std::vector<float> random_values(std::size_t n) {
  std::vector<float> result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = static_cast<float>(random_normal(7, i)) * (i < n / 2 ? 0.02F : 3.0F);
  return result;
}

std::vector<float> rounded(std::vector<float> values) {
  round_as_stored(base_format::nf4, values);
  return values;
}

/// On the host or, in bf16, by operations of a device.
at::Tensor widened(std::span<const float> values, at::ScalarType type) {
  const precision computed = type == at::kFloat ? precision::fp32 : precision::bf16;
  const at::Tensor stored =
      zeros({static_cast<std::int64_t>(stored_bytes(base_format::nf4, computed, values.size()))}, at::kByte);
  store(base_format::nf4, computed, values, {static_cast<std::byte*>(stored.mutable_data_ptr()), stored.nbytes()});
  const at::Tensor result = zeros({static_cast<std::int64_t>(values.size())}, type);
  widen(base_format::nf4, stored, result);
  return result;
}

}  // namespace

TEST_CASE("values become the nearest multiple of their block's largest magnitude", "[nf4]") {
  for (const std::size_t n : {1, 2, 63, 64, 65, 127, 128, 1000}) {
    const std::vector<float> values = random_values(n), stored = rounded(values);
    for (std::size_t begin = 0; begin < n; begin += nf4_block) {
      const std::size_t end = std::min(begin + nf4_block, n);
      float scale = 0;
      for (std::size_t i = begin; i < end; ++i) scale = std::max(scale, std::abs(values[i]));
      for (std::size_t i = begin; i < end; ++i) {
        INFO(n << " values, " << i);
        float least = scale;
        for (const float entry : nf4_table) least = std::min(least, std::abs(values[i] - entry * scale));
        CHECK(std::ranges::any_of(nf4_table, [&](float entry) { return stored[i] == entry * scale; }));
        CHECK(std::abs(values[i] - stored[i]) <= least * 1.00001F);
      }
    }
  }
}

TEST_CASE("two codes are in a byte, the first in its upper half", "[nf4]") {
  const std::vector<float> values{-2.0F, 0.0F, 2.0F};
  std::vector<float> scales(1);
  std::vector<std::uint8_t> codes(2);
  to_nf4(values, scales, codes);
  CHECK(scales[0] == 2.0F);
  CHECK(codes == std::vector<std::uint8_t>{0x07, 0xF7});  // what is missing is 0
}

TEST_CASE("a block of zeros stays zero", "[nf4]") {
  CHECK(rounded(std::vector<float>(130)) == std::vector<float>(130));
}

TEST_CASE("a block with a value that is not a number has none", "[nf4]") {
  std::vector<float> values(128, 1.0F);
  values[70] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> stored = rounded(values);
  CHECK(std::ranges::all_of(std::span{stored}.first(64), [](float v) { return v == 1.0F; }));
  CHECK(std::ranges::all_of(std::span{stored}.last(64), [](float v) { return std::isnan(v); }));
}

TEST_CASE("operations of a device widen to the values of the host's loop, rounded", "[nf4]") {
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{131}, (std::size_t{1} << 22) + 67}) {
    const std::vector<float> values = random_values(n), stored = rounded(values);
    const at::Tensor in_fp32 = widened(values, at::kFloat), in_bf16 = widened(values, at::kBFloat16);
    std::vector<std::uint16_t> halves(n);
    to_bf16(stored, halves);
    CHECK(std::ranges::equal(stored, std::span{in_fp32.const_data_ptr<float>(), n}));
    CHECK(std::memcmp(halves.data(), in_bf16.const_data_ptr(), 2 * n) == 0);
  }
}

TEST_CASE("a stored parameter takes the bytes of its format", "[nf4]") {
  CHECK(stored_bytes(base_format::as_computed, precision::fp32, 640) == 2560);
  CHECK(stored_bytes(base_format::as_computed, precision::bf16, 640) == 1280);
  CHECK(stored_bytes(base_format::bf16, precision::fp32, 640) == 1280);
  CHECK(stored_bytes(base_format::nf4, precision::fp32, 640) == 64 + 40 + 320);
}
