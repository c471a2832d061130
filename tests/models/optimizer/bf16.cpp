#include "models/optimizer/bf16.hpp"

#include "models/random.hpp"
#include "runtime/base/fault.hpp"

#include <c10/util/BFloat16.h>
#include <catch2/catch.hpp>

#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

using namespace hydra;

TEST_CASE("a value is rounded as at::BFloat16 rounds it, special ones and halfway cases too") {
  using limits = std::numeric_limits<float>;
  std::vector<float> values{0.0f, -0.0f, limits::infinity(), -limits::infinity(), limits::max(), limits::lowest(),
                            limits::min(), limits::denorm_min()};
  for (std::uint32_t i = 0; i < 200000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random_bits(1, i));
    for (const std::uint32_t low : {bits & 0xffffu, 0x7fffu, 0x8000u, 0x8001u})
      values.push_back(std::bit_cast<float>((bits & 0xffff0000u) | low));
  }
  std::vector<std::uint16_t> all(values.size());
  to_bf16(values, all);
  std::size_t different = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != values[i]) continue;
    const std::uint16_t expected = c10::BFloat16{values[i]}.x;
    different += static_cast<std::size_t>(to_bf16(values[i]) != expected || all[i] != expected);
  }
  CHECK(different == 0);
}

TEST_CASE("NaN stays NaN") {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0xffffffffu, 0xff810000u})
    CHECK(c10::BFloat16(to_bf16(std::bit_cast<float>(bits)), c10::BFloat16::from_bits()) !=
          c10::BFloat16(to_bf16(std::bit_cast<float>(bits)), c10::BFloat16::from_bits()));
}

TEST_CASE("widening gives the values of c10::BFloat16, and they are added in fp32") {
  std::vector<std::uint16_t> all(1 << 16);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  std::vector<float> widened(all.size()), sums(all.size(), 1e-3f);
  from_bf16(all, widened);
  add_bf16(all, sums);
  std::size_t different = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float expected = c10::BFloat16(all[i], c10::BFloat16::from_bits());
    if (expected != expected) continue;
    different += static_cast<std::size_t>(widened[i] != expected || sums[i] != 1e-3f + expected);
  }
  CHECK(different == 0);
}

TEST_CASE("a copy of another length is refused") {
  std::array values{1.0f, 2.0f};
  std::array<std::uint16_t, 1> copy{};
  CHECK_THROWS_AS(to_bf16(values, copy), fault_error);
  CHECK_THROWS_AS(from_bf16(copy, values), fault_error);
  CHECK_THROWS_AS(add_bf16(copy, values), fault_error);
}
