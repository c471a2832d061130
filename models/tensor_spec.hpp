#pragma once
// Shape and element type of a tensor, without the tensor.

#include "runtime/base/bytes.hpp"
#include "runtime/device/precision.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// `bits`: 8 bytes of other values, which are neither rounded nor numbers.
enum class element : std::uint8_t { f32, i64, bf16, bits };

/// Of parameters and activations.
constexpr element element_of(precision numbers) noexcept {
  return numbers == precision::bf16 ? element::bf16 : element::f32;
}

/// Bytes of one element.
constexpr std::uint64_t width_of(element type) noexcept {
  return type == element::bf16 ? 2 : type == element::f32 ? 4 : 8;
}

/// "f32".
std::string to_string(element type);
/// The inverse; empty for other texts.
std::optional<element> element_named(std::string_view text);

/// Shapes of inputs and boundary activations have the samples of one micro-batch as first dimension.
struct tensor_spec {
  std::vector<std::int64_t> shape;
  element type = element::f32;

  std::int64_t elements() const noexcept;
  byte_count bytes() const noexcept;
  friend bool operator==(const tensor_spec&, const tensor_spec&) = default;
};

/// The same tensor for `samples` samples: shape of one sample with a leading dimension.
tensor_spec batched(const tensor_spec& sample, std::int64_t samples);

/// "f32[8, 64, 128]".
std::string to_string(const tensor_spec& spec);

}  // namespace hydra
