#include "models/optimizer/matrix_product.hpp"

#include "models/optimizer/vector_clones.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

namespace hydra {
namespace {

constexpr std::size_t lanes = 16;        ///< values of a row that are computed at the same time
constexpr std::size_t panel_groups = 4;  ///< of so many lanes
constexpr std::size_t panel_columns = panel_groups * lanes;
constexpr std::size_t depth = 256;       ///< of a packed block, which stays in a core's cache
constexpr std::size_t rows_at_once = 6;  ///< with their lanes in the registers of AVX2

constexpr std::size_t padded(std::size_t columns) { return (columns + lanes - 1) / lanes * lanes; }

/// Rows [first, ...) of a panel's sums.
struct panel_sums {
  panel_sums(std::size_t from, std::size_t rows) : first(from), values((rows - from) * panel_columns) {}
  float* row(std::size_t i) noexcept { return values.data() + (i - first) * panel_columns; }
  std::size_t first;
  std::vector<float> values;
};

/// Some rows of the right operand in the panel's columns: lanes of a row side by side, then the next row.
using packed_block = std::array<float, panel_groups * depth * lanes>;

template <std::size_t Rows>
[[gnu::always_inline]] inline void add_products(std::size_t n, const float* __restrict a, std::size_t stride,
                                                const float* __restrict packed, float* __restrict sums) {
  float sum[Rows][lanes];
  for (std::size_t r = 0; r < Rows; ++r)
    for (std::size_t l = 0; l < lanes; ++l) sum[r][l] = sums[r * panel_columns + l];
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t r = 0; r < Rows; ++r)
      for (std::size_t l = 0; l < lanes; ++l) sum[r][l] = std::fma(a[r * stride + k], packed[k * lanes + l], sum[r][l]);
  for (std::size_t r = 0; r < Rows; ++r)
    for (std::size_t l = 0; l < lanes; ++l) sums[r * panel_columns + l] = sum[r][l];
}

/// Of `rows` rows of n values of the left operand.
HYDRA_VECTOR_CLONES void add_block(std::size_t rows, std::size_t n, const float* __restrict a, std::size_t stride,
                                   const float* __restrict packed, float* __restrict sums) {
  std::size_t i = 0;
  for (; i + rows_at_once <= rows; i += rows_at_once)
    for (std::size_t g = 0; g < panel_groups; ++g)
      add_products<rows_at_once>(n, a + i * stride, stride, packed + g * depth * lanes,
                                 sums + i * panel_columns + g * lanes);
  for (; i < rows; ++i)
    for (std::size_t g = 0; g < panel_groups; ++g)
      add_products<1>(n, a + i * stride, stride, packed + g * depth * lanes, sums + i * panel_columns + g * lanes);
}

/// Rows [begin, begin + n) of b in the columns from `column` on.
void pack(const matrix& b, std::size_t column, std::size_t begin, std::size_t n, packed_block& to) {
  for (std::size_t g = 0; g < panel_groups && column + g * lanes < b.stride; ++g)
    for (std::size_t k = 0; k < n; ++k)
      std::copy_n(b.row(begin + k) + column + g * lanes, lanes, to.data() + (g * depth + k) * lanes);
}

/// The same of b^T.
void pack_transposed(const matrix& b, std::size_t column, std::size_t begin, std::size_t n, packed_block& to) {
  for (std::size_t j = 0; j < panel_columns && column + j < b.rows; ++j)
    for (std::size_t k = 0; k < n; ++k) to[(j / lanes * depth + k) * lanes + j % lanes] = b.row(column + j)[begin + k];
}

/// Columns of the product from `column` on, in the rows from sums.first on.
template <class Pack>
void add_panel(const matrix& a, std::size_t column, Pack pack_rows, panel_sums& sums) {
  const auto packed = std::make_unique<packed_block>();
  for (std::size_t begin = 0; begin < a.columns; begin += depth) {
    const std::size_t n = std::min(depth, a.columns - begin);
    pack_rows(column, begin, n, *packed);
    add_block(a.rows - sums.first, n, a.row(sums.first) + begin, a.stride, packed->data(), sums.values.data());
  }
}

template <class Use>
void for_each_panel(std::size_t columns, Use use) {
  oneapi::tbb::parallel_for(
      std::size_t{0}, (columns + panel_columns - 1) / panel_columns,
      [&](std::size_t panel) { use(panel * panel_columns); }, oneapi::tbb::simple_partitioner{});
}

/// `value`: of a place in the lower half, from its sum.
template <class Pack, class Value>
void symmetric_product(const matrix& a, Pack pack_rows, matrix& to, Value value) {
  for_each_panel(to.columns, [&](std::size_t column) {
    panel_sums sums(column, to.rows);
    add_panel(a, column, pack_rows, sums);
    for (std::size_t i = column; i < to.rows; ++i)
      for (std::size_t j = column; j < std::min(column + panel_columns, i + 1); ++j)
        to.row(i)[j] = to.row(j)[i] = value(i, j, sums.row(i)[j - column]);
  });
}

}  // namespace

std::size_t product_scratch(std::size_t rows) noexcept {
  return rows * panel_columns * sizeof(float) + sizeof(packed_block);
}

matrix::matrix(std::size_t r, std::size_t c) : rows(r), columns(c), stride(padded(c)), values(r * stride) {}

std::size_t matrix::bytes(std::size_t rows, std::size_t columns) noexcept {
  return rows * padded(columns) * sizeof(float);
}

void gram(const matrix& x, matrix& to) {
  symmetric_product(
      x,
      [&x](std::size_t column, std::size_t begin, std::size_t n, packed_block& rows) {
        pack_transposed(x, column, begin, n, rows);
      },
      to, [](std::size_t, std::size_t, float sum) { return sum; });
}

void square(float alpha, const matrix& s, float beta, matrix& to) {
  symmetric_product(
      s,
      [&s](std::size_t column, std::size_t begin, std::size_t n, packed_block& rows) {
        pack(s, column, begin, n, rows);
      },
      to, [&](std::size_t i, std::size_t j, float sum) { return std::fma(alpha, sum, beta * s.row(i)[j]); });
}

/// A panel is written when all of it has been read.
void multiply_from_left(const matrix& s, float beta, matrix& x) {
  for_each_panel(x.columns, [&](std::size_t column) {
    panel_sums sums(0, x.rows);
    add_panel(
        s, column,
        [&x](std::size_t at, std::size_t begin, std::size_t n, packed_block& rows) { pack(x, at, begin, n, rows); },
        sums);
    const std::size_t n = std::min(panel_columns, x.columns - column);
    for (std::size_t i = 0; i < x.rows; ++i)
      for (std::size_t j = 0; j < n; ++j) x.row(i)[column + j] = std::fma(beta, x.row(i)[column + j], sums.row(i)[j]);
  });
}

}  // namespace hydra
