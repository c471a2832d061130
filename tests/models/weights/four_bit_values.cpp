#include "models/weights/four_bit_values.hpp"

#include "models/frozen/nf4.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace hydra;

namespace {

std::span<const std::byte> bytes(const auto& vector) { return std::as_bytes(std::span{vector}); }

std::vector<float> decoded(const four_bit_values& from, std::size_t n) {
  std::vector<float> values(n);
  CHECK(widen_mapped(from, values) == 0);
  return values;
}

}  // namespace

TEST_CASE("a code of 4 bits is a multiple of its block's scale, of two in a byte the first is in the upper half") {
  std::vector<std::uint8_t> codes(17, 0x37);
  codes[16] = 0xF0;  // of the last block, which has one value
  const std::vector<float> scales{2, -0.5F};
  const four_bit_values nf4{four_bit_type::nf4, 32, bytes(codes), bytes(scales)};
  std::vector<float> values = decoded(nf4, 33);
  CHECK(values[0] == 2 * -0.39491748809814453F);
  CHECK(values[1] == 0);
  CHECK(values[30] == values[0]);
  CHECK(values[32] == -0.5F);
  const four_bit_values fp4{four_bit_type::fp4, 32, bytes(codes), bytes(scales)};
  values = decoded(fp4, 33);
  CHECK(values[0] == 2);
  CHECK(values[1] == 0.5F);
  CHECK(values[32] == 0.125F);
}

TEST_CASE("the codes of fp4 are a sign and a float of 3 bits, divided by the largest") {
  const std::vector<float> twelfths{0, 0.0625F, 8, 12, 4, 6, 2, 3};
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(table_of(four_bit_type::fp4)[i] == twelfths[i] / 12);
    CHECK(table_of(four_bit_type::fp4)[i + 8] == -twelfths[i] / 12);
  }
}

TEST_CASE("a scale that is quantised itself is its code's multiple of a second scale, and an offset") {
  const std::vector<std::uint8_t> codes(2 * 64 * 32 / 2, 0xF8), indices(2 * 32, 3);
  std::vector<float> table(256), second(2);
  table[3] = 5;
  second = {0.5F, 2};
  const four_bit_values from{
      four_bit_type::nf4, 64, bytes(codes), bytes(indices),
      nested_scales{.table = bytes(table), .scales = bytes(second), .group = 32, .offset = 0.25F}};
  const std::vector<float> values = decoded(from, 2 * 64 * 32);
  CHECK(values[0] == 2.75F);
  CHECK(values[64 * 32 - 1] == nf4_table[8] * 2.75F);
  CHECK(values[64 * 32] == 10.25F);
}

TEST_CASE("values in 4 bits are the same in parts, each of which comes once") {
  const std::size_t n = 600'007;
  std::vector<std::uint8_t> codes((n + 1) / 2);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i * 37 + i / 3);
  std::vector<float> scales((n + 63) / 64);
  for (std::size_t b = 0; b < scales.size(); ++b) scales[b] = 0.02F + 1e-6F * static_cast<float>(b % 977);
  const auto codes_again = codes;  // copies: as of a mapping, pages that were read are released
  const auto scales_again = scales;
  std::vector<float> values(n);
  CHECK(widen_parts({four_bit_type::nf4, 64, bytes(codes_again), bytes(scales_again)}, n,
                    [&](std::size_t begin, std::span<const float> part) {
                      for (std::size_t i = 0; i < part.size(); ++i) values[begin + i] += part[i];
                    }) == 0);
  CHECK(values == decoded({four_bit_type::nf4, 64, bytes(codes), bytes(scales)}, n));
}

TEST_CASE("values that were nf4 in blocks of 64 have the same codes and scales when they are stored as nf4 again") {
  const std::size_t n = 300'007;  // parts of several threads
  std::vector<std::uint8_t> codes(nf4_code_bytes(n));
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i * 37 + i / 3);
  for (std::size_t i = 0; i < codes.size(); i += 32) codes[i] = i % 64 == 0 ? 0x0A : 0xF2;  // the largest of its block
  codes.back() &= 0xF0;
  std::vector<float> scales(nf4_scales(n));
  for (std::size_t b = 0; b < scales.size(); ++b) scales[b] = 0.02F + 1e-6F * static_cast<float>(b % 977);
  const auto mapped_codes = codes;  // copies: as of a mapping, pages that were read are released
  const auto mapped_scales = scales;
  const std::vector<float> values =
      decoded({four_bit_type::nf4, nf4_block, bytes(mapped_codes), bytes(mapped_scales)}, n);
  std::vector<std::uint8_t> codes_again(codes.size());
  std::vector<float> scales_again(scales.size());
  to_nf4(values, scales_again, codes_again);
  codes_again.back() &= 0xF0;
  CHECK(std::ranges::equal(codes_again, codes));
  CHECK(std::ranges::equal(scales_again, scales));
}

TEST_CASE("values in 4 bits that are not finite are counted, and sizes that do not fit are an error of the program") {
  const std::vector<std::uint8_t> codes(32, 0xFF);
  const std::vector<float> scales{1, INFINITY};
  std::vector<float> values(64);
  CHECK(widen_mapped({four_bit_type::nf4, 32, bytes(codes), bytes(scales)}, values) == 32);
  CHECK_THROWS_AS(widen_mapped({four_bit_type::nf4, 64, bytes(codes), bytes(scales)}, values), fault_error);
  values.pop_back();
  values.pop_back();
  CHECK_THROWS_AS(widen_mapped({four_bit_type::nf4, 32, bytes(codes), bytes(scales)}, values), fault_error);
}
