#include "models/optimizer/muon_update.hpp"

#include "models/optimizer/lane_sum.hpp"
#include "models/optimizer/matrix_product.hpp"
#include "models/optimizer/vector_clones.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace hydra {
namespace {

// The smallest norm, the number of iterations and the quintic polynomial: torch/optim/_muon.py of PyTorch 2.9.
constexpr float least_norm = 1e-7f;
constexpr int iterations = 5;

/// With rows <= columns, as torch transposes it.
matrix_size lying(const matrix_size& s) { return {std::min(s.rows, s.columns), std::max(s.rows, s.columns)}; }

/// `direction` gets what is orthogonalised.
HYDRA_VECTOR_CLONES void move_momentum(const muon_constants& k, std::size_t n, const float* __restrict gradients,
                                       float* __restrict momentum, float* __restrict direction) {
  const float back = k.nesterov ? -k.complement : 0.0f;
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradients[i] * k.clip;
    const float m = std::fma(k.complement, g - momentum[i], momentum[i]);
    momentum[i] = m;
    direction[i] = std::fma(back, m - g, m);
  }
}

HYDRA_VECTOR_CLONES void step_row(float decay, float step, std::size_t n, const float* __restrict direction,
                                  float* __restrict p) {
  for (std::size_t i = 0; i < n; ++i) p[i] = std::fma(step, direction[i], p[i] * decay);
}

HYDRA_VECTOR_CLONES void divide_row(float by, std::size_t n, float* __restrict x) {
  for (std::size_t i = 0; i < n; ++i) x[i] /= by;
}

HYDRA_VECTOR_CLONES double sum_of_squares(std::size_t n, const float* __restrict x) {
  return lane_sum(n, [x](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
}

template <class Use>
void for_each_row(std::size_t rows, Use use) {
  oneapi::tbb::parallel_for(std::size_t{0}, rows, use);
}

void normalise(matrix& x) {
  std::vector<double> squares(x.rows);
  for_each_row(x.rows, [&](std::size_t i) { squares[i] = sum_of_squares(x.columns, x.row(i)); });
  double sum = 0;
  for (const double s : squares) sum += s;
  const float norm = std::max(static_cast<float>(std::sqrt(sum)), least_norm);
  for_each_row(x.rows, [&](std::size_t i) { divide_row(norm, x.columns, x.row(i)); });
}

void orthogonalise(matrix& x) {
  constexpr float a = 3.4445f, b = -4.7750f, c = 2.0315f;
  normalise(x);
  matrix g(x.rows, x.rows), polynomial(x.rows, x.rows);
  for (int i = 0; i < iterations; ++i) {
    gram(x, g);
    square(c, g, b, polynomial);
    multiply_from_left(polynomial, a, x);
  }
}

/// Rows of a matrix that is higher than wide become columns of `x`.
void turn(const float* values, const matrix_size& size, std::size_t row, matrix& x) {
  for (std::size_t j = 0; j < size.columns; ++j) x.row(j)[row] = values[j];
}

void turn_back(const matrix& x, const matrix_size& size, std::size_t row, float* values) {
  for (std::size_t j = 0; j < size.columns; ++j) values[j] = x.row(j)[row];
}

float rate_for(const muon_constants& k, const matrix_size& s) {
  const auto rows = static_cast<double>(s.rows), columns = static_cast<double>(s.columns);
  const double factor =
      k.match_rms ? 0.2 * std::sqrt(std::max(rows, columns)) : std::sqrt(std::max(1.0, rows / columns));
  return static_cast<float>(-k.rate * factor);
}

void step_matrix(const muon_constants& k, const matrix_size& size, float* parameters, const float* gradients,
                 float* momentum) {
  const bool turned = size.rows > size.columns;
  matrix x(lying(size).rows, lying(size).columns);
  for_each_row(size.rows, [&](std::size_t i) {
    const std::size_t at = i * size.columns;
    std::vector<float> row(turned ? size.columns : 0);
    move_momentum(k, size.columns, gradients + at, momentum + at, turned ? row.data() : x.row(i));
    if (turned) turn(row.data(), size, i, x);
  });
  orthogonalise(x);
  const float step = rate_for(k, size);
  for_each_row(size.rows, [&](std::size_t i) {
    std::vector<float> row(turned ? size.columns : 0);
    if (turned) turn_back(x, size, i, row.data());
    step_row(k.decay, step, size.columns, turned ? row.data() : x.row(i), parameters + i * size.columns);
  });
}

}  // namespace

void apply_muon(const muon_constants& k, const matrix_size& size, std::span<float> parameters,
                std::span<const float> gradients, std::span<float> momentum) {
  step_matrix(k, size, parameters.data(), gradients.data(), momentum.data());
}

std::size_t muon_scratch(const matrix_size& size) noexcept {
  const auto [rows, columns] = lying(size);
  return matrix::bytes(rows, columns) + 2 * matrix::bytes(rows, rows) + product_scratch(rows) +
         std::max(size.rows, size.columns) * sizeof(float);
}

/// One half of the symmetric ones.
std::size_t muon_products(const matrix_size& size) noexcept {
  const auto [m, n] = lying(size);
  return iterations * (m * m * n / 2 + m * m * m / 2 + m * m * n);
}

}  // namespace hydra
