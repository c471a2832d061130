#pragma once
// Types of values of an exported graph in files of tensors.

#include "models/exported/graph.hpp"
#include "models/weights/safetensors.hpp"

#include <array>
#include <cstddef>

namespace hydra {

constexpr stored_type stored_as(value_type type) noexcept {
  using enum stored_type;
  constexpr std::array all{f32, f64, bf16, f16, i64, i32, i16, i8, u8, boolean};  // in the order of value_type
  return all[static_cast<std::size_t>(type)];
}

}  // namespace hydra
