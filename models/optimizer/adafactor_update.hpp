#pragma once
// Adafactor (Shazeer and Stern 2018, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost"): of the second
// moments of a matrix only the means of its rows and columns are kept.

#include "models/optimizer/parameter_form.hpp"
#include "runtime/device/kernels/update_math.hpp"

#include <cstddef>
#include <span>

namespace hydra {

/// What is kept of a whole parameter's second moments: of a matrix a value for each row and each column; else all, and
/// no columns.
struct factored_moment {
  std::span<float> rows;
  std::span<float> columns;
};

/// One step of a whole parameter, as transformers' Adafactor with a given learning rate (scale_parameter =
/// relative_step = False, no first moment); filters of a convolution are rows, where transformers' has a matrix for
/// each two leading indices. Sums are in double and in an order that depends on the size alone, not on the number of
/// threads.
void apply_adafactor(const adafactor_constants& constants, const matrix_size& size, std::span<float> parameters,
                     std::span<const float> gradients, const factored_moment& moment);

/// Bytes that a step allocates for its time, at most.
std::size_t adafactor_scratch(const matrix_size& size) noexcept;

}  // namespace hydra
