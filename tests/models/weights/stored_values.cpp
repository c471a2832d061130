#include "models/weights/stored_values.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/stored_tensors.hpp"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace hydra;
using namespace hydra::test;

namespace {

constexpr std::size_t all_patterns = 65536;

/// Every pattern of 16 bits, starting at an odd address.
std::vector<float> widened_patterns(stored_type type) {
  std::vector<std::uint16_t> bits(all_patterns);
  std::iota(bits.begin(), bits.end(), std::uint16_t{0});
  const std::string bytes = "x" + std::string{reinterpret_cast<const char*>(bits.data()), 2 * bits.size()};
  std::vector<float> values(all_patterns);
  widen(tensor_of(type, {static_cast<std::int64_t>(all_patterns)}, std::string_view{bytes}.substr(1)), values);
  return values;
}

template <class Reference>
std::size_t wrong(stored_type type) {
  const std::vector<float> values = widened_patterns(type);
  std::size_t count = 0;
  for (std::size_t i = 0; i < all_patterns; ++i) {
    const float expected = static_cast<float>(Reference{static_cast<std::uint16_t>(i), Reference::from_bits()});
    const bool equal = std::isnan(expected)
                           ? std::isnan(values[i])
                           : std::bit_cast<std::uint32_t>(expected) == std::bit_cast<std::uint32_t>(values[i]);
    count += equal ? 0 : 1;
  }
  return count;
}

}  // namespace

TEST_CASE("tensors are equal if their values are, whatever their types, and their shapes") {
  // 1 and -0, 1 and 0, 1 and 1
  const std::string f16("\x00\x3C\x00\x80", 4), bf16("\x80\x3F\x00\x00", 4), other("\x80\x3F\x80\x3F", 4);
  const stored_tensor a = tensor_of(stored_type::f16, {2}, f16);
  CHECK(equal_mapped(a, tensor_of(stored_type::bf16, {2}, bf16)));
  CHECK_FALSE(equal_mapped(a, tensor_of(stored_type::bf16, {2}, other)));
  CHECK_FALSE(equal_mapped(a, tensor_of(stored_type::f16, {1, 2}, f16)));
  CHECK_FALSE(equal_mapped(a, tensor_of(stored_type::i16, {2}, f16)));
}

TEST_CASE("tensors are compared to their end, across the bounds of the parts that are read at a time") {
  const std::size_t n = (std::size_t{1} << 18) + 7;
  const auto equal = [n](std::size_t changed) {  // made anew, because pages that were read are released
    std::vector<float> a(n), b;
    for (std::size_t i = 0; i < n; ++i) a[i] = static_cast<float>(i);
    b = a;
    if (changed < n) b[changed] = -1;
    const auto tensor = [n](const std::vector<float>& values) {
      return tensor_of(stored_type::f32, {static_cast<std::int64_t>(n)},
                       {reinterpret_cast<const char*>(values.data()), n * sizeof(float)});
    };
    return equal_mapped(tensor(a), tensor(b));
  };
  CHECK(equal(n));
  CHECK_FALSE(equal(n - 1));
}

TEST_CASE("each of the 65536 values of bf16 and f16 is widened exactly, at any alignment") {
  CHECK(wrong<c10::BFloat16>(stored_type::bf16) == 0);
  CHECK(wrong<c10::Half>(stored_type::f16) == 0);
}

TEST_CASE("fp32 is copied bit for bit, across the bounds of the parts that are read at a time") {
  std::vector<std::uint32_t> bits((std::size_t{1} << 19) + 7);
  std::iota(bits.begin(), bits.end(), 0x7F7FFFF0u);  // through infinity into NaNs
  const std::string_view bytes{reinterpret_cast<const char*>(bits.data()), 4 * bits.size()};
  std::vector<float> values(bits.size());
  widen(tensor_of(stored_type::f32, {static_cast<std::int64_t>(bits.size())}, bytes), values);
  CHECK(std::memcmp(values.data(), bits.data(), bytes.size()) == 0);
}

TEST_CASE("types that fp32 does not represent exactly are not widened") {
  for (const auto type : {stored_type::f64, stored_type::i64, stored_type::u8, stored_type::f8_e4m3})
    CHECK_FALSE(widens_to_f32(type));
  std::vector<float> two(2);
  CHECK_THROWS_AS(widen(tensor_of(stored_type::f64, {2}, std::string(16, '\0')), two), fault_error);
  CHECK_THROWS_AS(widen(tensor_of(stored_type::f32, {1}, std::string(4, '\0')), two), fault_error);
}
