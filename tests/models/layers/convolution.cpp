#include "models/layers/convolution.hpp"

#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;

/// One output value, by simple loops.

namespace convolution_test {

double plain(const at::Tensor& x, const at::Tensor& w, const convolution_shape& shape,
             const std::array<std::int64_t, 4>& at) {
  const auto [sample, out, row, column] = at;
  double sum = 0;
  for (std::int64_t c = 0; c < shape.in; ++c)
    for (std::int64_t i = 0; i < shape.kernel; ++i)
      for (std::int64_t j = 0; j < shape.kernel; ++j) {
        const std::int64_t y = row * shape.stride + i - shape.kernel / 2,
                           z = column * shape.stride + j - shape.kernel / 2;
        if (y >= 0 && y < x.size(2) && z >= 0 && z < x.size(3))
          sum += number(x[sample][c][y][z]) * number(w[out][c][i][j]);
      }
  return sum;
}

/// Largest difference from the simple loops.
double error(const convolution_shape& shape, at::ScalarType type) {
  const at::Tensor x = random_tensor({2, shape.in, 5, 4}, 1, type);
  const at::Tensor w = random_tensor(convolution_weight("w", shape).shape, 2, type);
  const at::Tensor y = convolve(x, w, shape);
  double worst = 0;
  for (std::int64_t s = 0; s < y.size(0); ++s)
    for (std::int64_t o = 0; o < y.size(1); ++o)
      for (std::int64_t r = 0; r < y.size(2); ++r)
        for (std::int64_t c = 0; c < y.size(3); ++c)
          worst = std::max(worst, std::abs(number(y[s][o][r][c]) - plain(x, w, shape, {s, o, r, c})));
  return worst;
}

TEST_CASE("a convolution equals simple loops for every kernel and stride in use") {
  for (const std::int64_t kernel : {1, 3})
    for (const std::int64_t stride : {1, 2}) {
      const convolution_shape shape{.in = 3, .out = 2, .kernel = kernel, .stride = stride};
      CHECK(error(shape, at::kDouble) < 1e-12);
      CHECK(error(shape, at::kFloat) < 1e-4);
    }
}

TEST_CASE("the computed size of a convolution is that of its output") {
  for (const std::int64_t kernel : {1, 3})
    for (const std::int64_t stride : {1, 2})
      for (const std::int64_t size : {1, 2, 5, 8}) {
        const convolution_shape shape{.in = 1, .out = 1, .kernel = kernel, .stride = stride};
        const at::Tensor y = convolve(zeros({1, 1, size, size}), zeros({1, 1, kernel, kernel}), shape);
        CHECK(y.size(2) == convolved_size(size, shape));
      }
}

TEST_CASE("a convolution's initial weight is within torch's bound") {
  const parameter_spec w = convolution_weight("conv.weight", {.in = 4, .out = 8, .kernel = 3});
  CHECK(w.shape == std::vector<std::int64_t>{8, 4, 3, 3});
  CHECK(w.initial.how == initial_value::kind::uniform);
  CHECK(w.initial.value == Approx(1.0 / 6));
}

}  // namespace convolution_test
