#pragma once
// Products of fp32 matrices on the host, whose bits depend on nothing but their operands: no BLAS, whose order of
// addition may depend on the number of threads, on alignment and on its version.
//
// Each value is a sum of fused products in ascending order. Panels of columns are computed in parallel by TBB's
// threads, each with a buffer of 64 columns.

#include <cstddef>
#include <vector>

namespace hydra {

/// Row by row; a row is padded to a multiple of 16 values.
struct matrix {
  matrix(std::size_t rows, std::size_t columns);  ///< zeros

  float* row(std::size_t i) noexcept { return values.data() + i * stride; }
  const float* row(std::size_t i) const noexcept { return values.data() + i * stride; }
  static std::size_t bytes(std::size_t rows, std::size_t columns) noexcept;

  std::size_t rows, columns, stride;
  std::vector<float> values;
};

/// Bytes that one thread allocates for a product with that many rows.
std::size_t product_scratch(std::size_t rows) noexcept;

/// `to` = x x^T, which is symmetric: one half is computed and copied.
void gram(const matrix& x, matrix& to);

/// `to` = alpha s s + beta s of a symmetric matrix, likewise.
void square(float alpha, const matrix& s, float beta, matrix& to);

/// x = s x + beta x.
void multiply_from_left(const matrix& s, float beta, matrix& x);

}  // namespace hydra
