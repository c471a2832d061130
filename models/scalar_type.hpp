#pragma once
// Element types in LibTorch's names.

#include "models/tensor_spec.hpp"

#include <c10/core/ScalarType.h>

namespace hydra {

constexpr c10::ScalarType scalar_type(element type) noexcept {
  if (type == element::i64) return c10::ScalarType::Long;
  return type == element::bf16 ? c10::ScalarType::BFloat16 : c10::ScalarType::Float;
}

}  // namespace hydra
