#pragma once
// Element types in LibTorch's names.

#include "models/tensor_spec.hpp"

#include <c10/core/ScalarType.h>

namespace hydra {

constexpr c10::ScalarType scalar_type(element type) noexcept {
  if (type == element::i64) return c10::ScalarType::Long;
  if (type == element::bits)
    return c10::ScalarType::Double;  // a type that can have a gradient, and that nothing computes in
  return type == element::bf16 ? c10::ScalarType::BFloat16 : c10::ScalarType::Float;
}

}  // namespace hydra
