#include "models/tensor_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace hydra {
namespace {

constexpr std::array names{"f32", "i64", "bf16", "bits"};  // in the order of element

}  // namespace

std::string to_string(element type) { return names.at(static_cast<std::size_t>(type)); }

std::optional<element> element_named(std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<element>(found - names.begin());
}

std::int64_t tensor_spec::elements() const noexcept {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

byte_count tensor_spec::bytes() const noexcept {
  return byte_count{static_cast<std::uint64_t>(elements()) * width_of(type)};
}

tensor_spec batched(const tensor_spec& sample, std::int64_t samples) {
  tensor_spec result = sample;
  result.shape.insert(result.shape.begin(), samples);
  return result;
}

std::string to_string(const tensor_spec& spec) {
  return fmt::format("{}[{}]", to_string(spec.type), fmt::join(spec.shape, ", "));
}

}  // namespace hydra
