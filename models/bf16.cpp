#include "models/bf16.hpp"

#include "models/vector_clones.hpp"
#include "runtime/fault.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

HYDRA_VECTOR_CLONES void round_loop(std::size_t n, const float* __restrict from, std::uint16_t* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = to_bf16(from[i]);
}

}  // namespace

void to_bf16(std::span<const float> values, std::span<std::uint16_t> rounded) {
  if (values.size() != rounded.size())
    throw fault_error{fault_code::internal, fmt::format("{} values rounded into {}", values.size(), rounded.size())};
  round_loop(values.size(), values.data(), rounded.data());
}

}  // namespace hydra
