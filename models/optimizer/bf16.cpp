#include "models/optimizer/bf16.hpp"

#include "models/optimizer/vector_clones.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

HYDRA_VECTOR_CLONES void round_loop(std::size_t n, const float* __restrict from, std::uint16_t* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = to_bf16(from[i]);
}

HYDRA_VECTOR_CLONES void widen_loop(std::size_t n, const std::uint16_t* __restrict from, float* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from_bf16(from[i]);
}

HYDRA_VECTOR_CLONES void add_loop(std::size_t n, const std::uint16_t* __restrict from, float* __restrict sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += from_bf16(from[i]);
}

void check_lengths(std::span<const float> values, std::span<const std::uint16_t> rounded) {
  if (values.size() != rounded.size())
    throw fault_error{fault_code::internal,
                      fmt::format("{} values of fp32, {} of bf16", values.size(), rounded.size())};
}

}  // namespace

void to_bf16(std::span<const float> values, std::span<std::uint16_t> rounded) {
  check_lengths(values, rounded);
  round_loop(values.size(), values.data(), rounded.data());
}

void from_bf16(std::span<const std::uint16_t> rounded, std::span<float> values) {
  check_lengths(values, rounded);
  widen_loop(values.size(), rounded.data(), values.data());
}

void add_bf16(std::span<const std::uint16_t> rounded, std::span<float> sums) {
  check_lengths(sums, rounded);
  add_loop(sums.size(), rounded.data(), sums.data());
}

}  // namespace hydra
