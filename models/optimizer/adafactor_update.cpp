#include "models/optimizer/adafactor_update.hpp"

#include "models/optimizer/lane_sum.hpp"
#include "models/optimizer/vector_clones.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace hydra {
namespace {

/// Rows are divided into so many parts, at most, with sums of their own.
constexpr std::size_t most_parts = 32;
/// Values of a vector that are stepped at a time.
constexpr std::size_t piece = std::size_t{1} << 14;

// -- loops over a row, or a piece of a vector -------------------------------------------------------------------------

/// Adds squares to the sums of the columns; returns their sum.
HYDRA_VECTOR_CLONES double add_squares(const adafactor_constants& c, std::size_t n, const float* __restrict gradients,
                                       double* __restrict columns) {
  return lane_sum(n, [&c, gradients, columns](std::size_t i) {
    const float g = gradients[i] * c.clip, square = g * g + c.eps;
    columns[i] += static_cast<double>(square);
    return square;
  });
}

/// The sum of the squares of a row's step before it is clipped.
HYDRA_VECTOR_CLONES double squares_of_step(const adafactor_constants& c, std::size_t n,
                                           const float* __restrict gradients, float row,
                                           const float* __restrict columns) {
  return lane_sum(n, [&c, gradients, row, columns](std::size_t i) {
    const auto step = static_cast<double>(row * columns[i] * (gradients[i] * c.clip));
    return step * step;
  });
}

HYDRA_VECTOR_CLONES void step_row(const adafactor_constants& c, float rate, std::size_t n, float* __restrict p,
                                  const float* __restrict gradients, float row, const float* __restrict columns) {
  for (std::size_t i = 0; i < n; ++i)
    p[i] = std::fma(-rate, row * columns[i] * (gradients[i] * c.clip), p[i] * c.decay);
}

HYDRA_VECTOR_CLONES void move_moment(const adafactor_constants& c, std::size_t n, const float* __restrict gradients,
                                     float* __restrict moment, float* __restrict factors) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradients[i] * c.clip;
    moment[i] = std::fma(c.complement, g * g + c.eps, moment[i] * c.kept);
    factors[i] = 1 / std::sqrt(moment[i]);
  }
}

HYDRA_VECTOR_CLONES void factors_of(std::size_t n, const float* __restrict moment, float* __restrict factors) {
  for (std::size_t i = 0; i < n; ++i) factors[i] = 1 / std::sqrt(moment[i]);
}

// -- whole parameters -------------------------------------------------------------------------------------------------

template <class Use>
void for_each(std::size_t n, Use use) {
  oneapi::tbb::parallel_for(std::size_t{0}, n, use);
}

/// The learning rate over max(1, root mean square of the step / threshold).
float clipped_rate(const adafactor_constants& c, const std::vector<double>& squares, std::size_t n) {
  const double sum = std::accumulate(squares.begin(), squares.end(), 0.0);
  const double rms = std::sqrt(sum / static_cast<double>(n));
  return static_cast<float>(static_cast<double>(c.rate) / std::max(1.0, rms / static_cast<double>(c.threshold)));
}

/// Towards the means of squares of each row, and of each column.
void move_moments(const adafactor_constants& c, const matrix_size& size, const float* gradients,
                  const factored_moment& moment) {
  const std::size_t parts = std::min(size.rows, most_parts);
  std::vector<double> columns(parts * size.columns);
  const auto moved = [&c](float kept, double sum, std::size_t n) {
    return std::fma(c.complement, static_cast<float>(sum / static_cast<double>(n)), kept * c.kept);
  };
  for_each(parts, [&](std::size_t part) {
    for (std::size_t i = size.rows * part / parts; i < size.rows * (part + 1) / parts; ++i) {
      const double sum =
          add_squares(c, size.columns, gradients + i * size.columns, columns.data() + part * size.columns);
      moment.rows[i] = moved(moment.rows[i], sum, size.columns);
    }
  });
  for (std::size_t j = 0; j < size.columns; ++j) {
    double sum = 0;
    for (std::size_t part = 0; part < parts; ++part) sum += columns[part * size.columns + j];
    moment.columns[j] = moved(moment.columns[j], sum, size.rows);
  }
}

void step_matrix(const adafactor_constants& c, const matrix_size& size, float* parameters, const float* gradients,
                 const factored_moment& moment) {
  move_moments(c, size, gradients, moment);
  const double sum = std::accumulate(moment.rows.begin(), moment.rows.end(), 0.0);
  const auto mean = static_cast<float>(sum / static_cast<double>(size.rows));
  std::vector<float> columns(size.columns);
  factors_of(size.columns, moment.columns.data(), columns.data());
  const auto factor = [&](std::size_t row) { return 1 / std::sqrt(moment.rows[row] / mean); };
  std::vector<double> squares(size.rows);
  for_each(size.rows, [&](std::size_t i) {
    squares[i] = squares_of_step(c, size.columns, gradients + i * size.columns, factor(i), columns.data());
  });
  const float rate = clipped_rate(c, squares, size.rows * size.columns);
  for_each(size.rows, [&](std::size_t i) {
    const std::size_t at = i * size.columns;
    step_row(c, rate, size.columns, parameters + at, gradients + at, factor(i), columns.data());
  });
}

void step_vector(const adafactor_constants& c, std::size_t n, float* parameters, const float* gradients,
                 float* moment) {
  const std::size_t pieces = (n + piece - 1) / piece;
  std::vector<double> squares(pieces);
  const auto with_factors = [&](std::size_t at, auto use) {
    const std::size_t begin = at * piece, size = std::min(piece, n - begin);
    std::vector<float> factors(size);
    use(begin, size, factors.data());
  };
  for_each(pieces, [&](std::size_t at) {
    with_factors(at, [&](std::size_t begin, std::size_t size, float* factors) {
      move_moment(c, size, gradients + begin, moment + begin, factors);
      squares[at] = squares_of_step(c, size, gradients + begin, 1, factors);
    });
  });
  const float rate = clipped_rate(c, squares, n);
  for_each(pieces, [&](std::size_t at) {
    with_factors(at, [&](std::size_t begin, std::size_t size, float* factors) {
      factors_of(size, moment + begin, factors);
      step_row(c, rate, size, parameters + begin, gradients + begin, 1, factors);
    });
  });
}

}  // namespace

void apply_adafactor(const adafactor_constants& c, const matrix_size& size, std::span<float> parameters,
                     std::span<const float> gradients, const factored_moment& moment) {
  if (moment.columns.empty())
    return step_vector(c, parameters.size(), parameters.data(), gradients.data(), moment.rows.data());
  step_matrix(c, size, parameters.data(), gradients.data(), moment);
}

std::size_t adafactor_scratch(const matrix_size& size) noexcept {
  const std::size_t parts = std::min(size.rows, most_parts);
  return (parts * size.columns + size.rows) * sizeof(double) + std::max(size.columns, piece) * sizeof(float);
}

}  // namespace hydra
