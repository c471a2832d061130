#pragma once
// What decides, beside its name, how a parameter is stepped, and its size as a matrix.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>

namespace hydra {

struct parameter_form {
  std::span<const std::int64_t> shape;
  bool hidden = true;  ///< in a layer between the first and the last one of its model

  constexpr std::size_t elements() const noexcept {
    return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{}));
  }
};

struct matrix_size {
  std::size_t rows = 0, columns = 0;
};

/// Its first dimension, and all others in one: filters of a convolution are rows.
constexpr matrix_size matrix_size_of(const parameter_form& form) noexcept {
  const auto rows = form.shape.empty() ? std::size_t{1} : static_cast<std::size_t>(form.shape.front());
  return {rows, form.elements() / std::max(rows, std::size_t{1})};
}

}  // namespace hydra
