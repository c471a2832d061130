#include "models/optimizer/matrix_product.hpp"

#include "tests/models/numeric.hpp"

#include <ATen/ops/mm.h>
#include <oneapi/tbb/task_arena.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace hydra;
using namespace hydra::test;

namespace {

matrix matrix_of(const at::Tensor& t) {
  matrix m(static_cast<std::size_t>(t.size(0)), static_cast<std::size_t>(t.size(1)));
  for (std::size_t i = 0; i < m.rows; ++i) std::ranges::copy(values(t).subspan(i * m.columns, m.columns), m.row(i));
  return m;
}

at::Tensor tensor_of(const matrix& m) {
  at::Tensor t = zeros({static_cast<std::int64_t>(m.rows), static_cast<std::int64_t>(m.columns)});
  for (std::size_t i = 0; i < m.rows; ++i) std::copy_n(m.row(i), m.columns, values(t).data() + i * m.columns);
  return t;
}

constexpr double most_off = 4e-6;  ///< of sums of up to 1000 products in fp32

/// In double.
double off(const matrix& product, const at::Tensor& exact) {
  return distance(tensor_of(product).to(at::kDouble), exact) / (1 + exact.abs().max().item<double>());
}

at::Tensor symmetric(std::int64_t n) {
  const at::Tensor x = random_tensor({n, n}, 3);
  return x.add(x.t()).contiguous();
}

}  // namespace

TEST_CASE("products are those of ATen in double, whatever their sizes", "[muon]") {
  const auto [rows, columns] = GENERATE(table<std::int64_t, std::int64_t>(
      {{1, 1}, {1, 600}, {5, 7}, {6, 16}, {7, 17}, {64, 64}, {65, 300}, {130, 257}, {13, 1000}}));
  const at::Tensor x = random_tensor({rows, columns}, 1), s = symmetric(rows);
  const at::Tensor wide = x.to(at::kDouble), wide_s = s.to(at::kDouble);
  CAPTURE(rows, columns);
  matrix to(static_cast<std::size_t>(rows), static_cast<std::size_t>(rows));
  gram(matrix_of(x), to);
  CHECK(off(to, wide.mm(wide.t())) < most_off);
  square(2.5f, matrix_of(s), -0.5f, to);
  CHECK(off(to, wide_s.mm(wide_s).mul(2.5).add(wide_s, -0.5)) < most_off);
  matrix in_place = matrix_of(x);
  multiply_from_left(matrix_of(s), 3, in_place);
  CHECK(off(in_place, wide_s.mm(wide).add(wide, 3)) < most_off);
}

TEST_CASE("a value of a product is the sum of fused products in ascending order", "[muon]") {
  const at::Tensor x = random_tensor({70, 700}, 1);
  matrix to(70, 70);
  gram(matrix_of(x), to);
  for (const auto& [i, j] : {std::pair{0, 0}, {69, 3}, {3, 69}, {65, 64}, {12, 13}}) {
    float sum = 0;
    for (std::size_t k = 0; k < 700; ++k)
      sum = std::fma(values(x)[static_cast<std::size_t>(i) * 700 + k], values(x)[static_cast<std::size_t>(j) * 700 + k],
                     sum);
    CHECK(to.row(static_cast<std::size_t>(i))[j] == sum);
  }
}

TEST_CASE("products have the same bits on any number of threads", "[muon]") {
  const at::Tensor x = random_tensor({150, 400}, 1);
  const auto product_on = [&](int threads) {
    matrix in_place = matrix_of(x), s(150, 150);
    oneapi::tbb::task_arena(threads).execute([&] {
      gram(in_place, s);
      multiply_from_left(s, 2, in_place);
    });
    return in_place.values;
  };
  CHECK(product_on(1) == product_on(2));
}
