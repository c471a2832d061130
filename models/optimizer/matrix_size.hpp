#pragma once
// A parameter of two dimensions or more as a matrix.

#include "models/optimizer/parameter_form.hpp"

#include <algorithm>
#include <cstddef>

namespace hydra {

struct matrix_size {
  std::size_t rows = 0, columns = 0;
};

/// Its first dimension, and all others in one: filters of a convolution are rows.
constexpr matrix_size matrix_size_of(const parameter_form& form) noexcept {
  const auto rows = form.shape.empty() ? std::size_t{1} : static_cast<std::size_t>(form.shape.front());
  return {rows, form.elements() / std::max(rows, std::size_t{1})};
}

}  // namespace hydra
