#include "models/weights/four_bit_values.hpp"

#include "models/frozen/nf4.hpp"
#include "models/weights/stored_values.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

namespace hydra {
namespace {

constexpr std::size_t decoded_at_once = std::size_t{1} << 18;  // a multiple of every block

/// Twelfths of 0, 1/16, 8, 12, 4, 6, 2, 3 with both signs.
constexpr std::array<float, 16> fp4_table = [] {
  constexpr std::array<float, 8> twelfths{0.0F, 0.0625F, 8.0F, 12.0F, 4.0F, 6.0F, 2.0F, 3.0F};
  std::array<float, 16> all{};
  for (std::size_t i = 0; i < twelfths.size(); ++i) {
    all[i] = twelfths[i] / 12.0F;
    all[i + 8] = -all[i];
  }
  return all;
}();

float float_at(std::span<const std::byte> bytes, std::size_t i) {
  float value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

float scale_of(const four_bit_values& from, std::size_t block) {
  if (!from.nested) return float_at(from.scales, block);
  const nested_scales& n = *from.nested;
  const float multiple = float_at(n.table, std::to_integer<std::size_t>(from.scales[block]));
  return multiple * float_at(n.scales, block / n.group) + n.offset;
}

/// Of one block.
void decode(const std::array<float, 16>& table, const std::byte* codes, float scale, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto pair = std::to_integer<unsigned>(codes[i / 2]);
    to[i] = table[i % 2 == 0 ? pair >> 4 : pair & 15] * scale;
  }
}

/// The values from the i-th on, which begins a block.
void decode_part(const four_bit_values& from, std::size_t i, std::span<float> to) {
  const auto& table = table_of(from.type);
  for (std::size_t done = 0; done < to.size(); done += from.block)
    decode(table, from.codes.data() + (i + done) / 2, scale_of(from, (i + done) / from.block),
           to.subspan(done, std::min(from.block, to.size() - done)));
}

void check_sizes(const four_bit_values& from, std::size_t values) {
  const std::size_t blocks = (values + from.block - 1) / from.block;
  if (from.codes.size() != (values + 1) / 2 || from.scales.size() != blocks * (from.nested ? 1 : sizeof(float)))
    throw fault_error{fault_code::internal, fmt::format("{} values in 4 bits with {} bytes of codes and {} of scales",
                                                        values, from.codes.size(), from.scales.size())};
}

/// Calls `decode(begin, count)`, which returns how many values are not finite, for each part, and adds these up.
template <class Decode>
std::size_t decode_parts(const four_bit_values& from, std::size_t values, const Decode& decode) {
  check_sizes(from, values);
  std::atomic<std::size_t> wrong{0};
  const std::size_t parts = (values + decoded_at_once - 1) / decoded_at_once;
  tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t k) {
    const std::size_t begin = k * decoded_at_once, count = std::min(decoded_at_once, values - begin);
    wrong += decode(begin, count);
    mapped_file::release(from.codes.subspan(begin / 2, (count + 1) / 2));
  });
  mapped_file::release(from.scales);
  return wrong;
}

}  // namespace

std::string_view to_string(four_bit_type type) noexcept { return type == four_bit_type::nf4 ? "nf4" : "fp4"; }

const std::array<float, 16>& table_of(four_bit_type type) noexcept {
  return type == four_bit_type::nf4 ? nf4_table : fp4_table;
}

std::size_t widen_mapped(const four_bit_values& from, std::span<float> to) {
  return decode_parts(from, to.size(), [&](std::size_t begin, std::size_t count) {
    const auto part = to.subspan(begin, count);
    decode_part(from, begin, part);
    return not_finite_in(part);
  });
}

std::size_t widen_parts(const four_bit_values& from, std::size_t values, const take_part& take) {
  return decode_parts(from, values, [&](std::size_t begin, std::size_t count) {
    std::vector<float> part(count);
    decode_part(from, begin, part);
    take(begin, part);
    return not_finite_in(part);
  });
}

}  // namespace hydra
