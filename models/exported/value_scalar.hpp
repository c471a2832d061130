#pragma once
// Types of values of an exported graph in LibTorch's names.

#include "models/exported/graph.hpp"

#include <c10/core/ScalarType.h>

#include <array>
#include <cstddef>

namespace hydra {

constexpr c10::ScalarType scalar_type(value_type type) noexcept {
  using enum c10::ScalarType;
  constexpr std::array all{Float, Double, BFloat16, Half, Long,
                           Int,   Short,  Char,     Byte, Bool};  // in the order of value_type
  return all[static_cast<std::size_t>(type)];
}

}  // namespace hydra
