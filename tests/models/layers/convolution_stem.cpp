#include "models/layers/convolution_stem.hpp"

#include "models/layers/norms.hpp"
#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const convolution_stem stem{{.in = 3, .out = 4, .groups = 2}};

}  // namespace

TEST_CASE("a stem convolves, normalises and applies ReLU") {
  const auto p = random_parameters(stem, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 3, 5, 4}, 5, at::kDouble);
  const at::Tensor y = group_norm(convolve(x, p[0], {.in = 3, .out = 4}), 2, p[1], p[2]);
  CHECK(distance(stem.forward(p, x, {}), y.clamp_min(0)) == 0);
}

TEST_CASE("a stem conforms") {
  conforms(stem, random_tensor({2, 3, 5, 4}, 5));
}

TEST_CASE("a stem refuses other channels and groups that do not divide") {
  CHECK(stem.output({{2, 3, 5, 4}, element::f32}) == tensor_spec{{2, 4, 5, 4}, element::f32});
  CHECK_THROWS_WITH(stem.output({{2, 1, 5, 4}, element::f32}), Contains("wants images of 3 channels"));
  CHECK_THROWS_AS(stem.output({{2, 3, 5}, element::f32}), fault_error);
  CHECK_THROWS_WITH((convolution_stem{{.in = 3, .out = 4, .groups = 3}}), Contains("3 groups do not divide width 4"));
}
