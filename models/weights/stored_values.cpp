#include "models/weights/stored_values.hpp"

#include "models/optimizer/bf16.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

namespace hydra {
namespace {

constexpr std::size_t part_elements = std::size_t{1} << 18;  // 1 MiB of fp32: many pages, and fits into the caches

/// IEEE 754 binary16: 5 bits of exponent with bias 15, 10 of fraction.
float from_half(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u,
                      fraction = bits & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 127 - 15) << 23 | fraction << 13);
  const float subnormal = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -subnormal : subnormal;
}

template <class Widen>
void widen_each(std::span<const std::byte> from, std::span<float> to, Widen&& widen_one) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from.data() + i * sizeof bits, sizeof bits);
    to[i] = widen_one(bits);
  }
}

void widen_part(stored_type type, std::span<const std::byte> from, std::span<float> to) {
  if (type == stored_type::bf16) return widen_each(from, to, [](std::uint16_t bits) { return from_bf16(bits); });
  if (type == stored_type::f16) return widen_each(from, to, from_half);
  std::memcpy(to.data(), from.data(), from.size());
}

/// The values from the i-th on.
void read_part(const stored_tensor& from, std::size_t i, std::span<float> to) {
  const std::size_t width = width_of(from.type);
  const auto part = from.data.subspan(i * width, to.size() * width);
  widen_part(from.type, part, to);
  mapped_file::release(part);
}

void check(const stored_tensor& from, std::span<float> to) {
  if (!widens_to_f32(from.type) || from.data.size() != to.size() * width_of(from.type))
    throw fault_error{fault_code::internal, fmt::format("{} bytes of {} are not {} values of fp32", from.data.size(),
                                                        to_string(from.type), to.size())};
}

/// Calls `done` with each part of the source that has been read, and its converted values.
template <class Done>
void widen_parts(const stored_tensor& from, std::span<float> to, const Done& done) {
  check(from, to);
  const std::size_t width = width_of(from.type);
  tbb::parallel_for(tbb::blocked_range<std::size_t>{0, to.size(), part_elements}, [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); i += part_elements) {
      const std::size_t n = std::min(part_elements, range.end() - i);
      const auto part = from.data.subspan(i * width, n * width);
      widen_part(from.type, part, to.subspan(i, n));
      done(part, to.subspan(i, n));
    }
  });
}

}  // namespace

bool widens_to_f32(stored_type type) noexcept {
  return type == stored_type::f32 || type == stored_type::bf16 || type == stored_type::f16;
}

/// Is called while the values are in the caches. Works on their bits: a loop without branches.
std::size_t not_finite_in(std::span<const float> values) {
  constexpr std::uint32_t exponent = 0x7F800000u;
  std::size_t count = 0;
  for (const float x : values) count += (std::bit_cast<std::uint32_t>(x) & exponent) == exponent;
  return count;
}

void widen(const stored_tensor& from, std::span<float> to) {
  widen_parts(from, to, [](std::span<const std::byte>, std::span<const float>) {});
}

std::size_t widen_mapped(const stored_tensor& from, std::span<float> to) {
  std::atomic<std::size_t> wrong{0};
  widen_parts(from, to, [&](std::span<const std::byte> read, std::span<const float> values) {
    mapped_file::release(read);
    wrong += not_finite_in(values);
  });
  return wrong;
}

bool equal_mapped(const stored_tensor& a, const stored_tensor& b) {
  if (a.shape != b.shape || !widens_to_f32(a.type) || !widens_to_f32(b.type)) return false;
  const std::size_t elements = a.data.size() / width_of(a.type);
  std::vector<float> values(std::min(part_elements, elements)), others(values.size());
  for (std::size_t i = 0; i < elements; i += part_elements) {
    const std::size_t n = std::min(part_elements, elements - i);
    const auto of_a = std::span{values}.first(n), of_b = std::span{others}.first(n);
    read_part(a, i, of_a);
    read_part(b, i, of_b);
    if (!std::ranges::equal(of_a, of_b)) return false;
  }
  return true;
}

}  // namespace hydra
