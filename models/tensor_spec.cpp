#include "models/tensor_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>

namespace hydra {

std::int64_t tensor_spec::elements() const noexcept {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

byte_count tensor_spec::bytes() const noexcept {
  const std::uint64_t width = type == element::f32 ? sizeof(float) : sizeof(std::int64_t);
  return byte_count{static_cast<std::uint64_t>(elements()) * width};
}

tensor_spec batched(const tensor_spec& sample, std::int64_t samples) {
  tensor_spec result = sample;
  result.shape.insert(result.shape.begin(), samples);
  return result;
}

std::string to_string(const tensor_spec& spec) {
  return fmt::format("{}[{}]", spec.type == element::f32 ? "f32" : "i64", fmt::join(spec.shape, ", "));
}

}  // namespace hydra
