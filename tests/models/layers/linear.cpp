#include "models/layers/linear.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;

TEST_CASE("a linear layer multiplies by its rows and adds its bias") {
  const linear l{{.in = 4, .out = 3}};
  const auto p = random_parameters(l, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 4}, 5, at::kDouble);
  CHECK(distance(l.forward(p, x, {}), x.matmul(p[0].t()).add(p[1])) < 1e-14);
}

TEST_CASE("a hidden linear layer applies the exact GELU") {
  const linear plain{{.in = 4, .out = 3}}, hidden{{.in = 4, .out = 3, .gelu = true}};
  const auto p = random_parameters(plain, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 4}, 5, at::kDouble), y = plain.forward(p, x, {});
  const at::Tensor expected = y.mul(y.div(std::sqrt(2.0)).erf().add(1)).mul(0.5);
  CHECK(distance(hidden.forward(p, x, {}), expected) < 1e-14);
}

TEST_CASE("a linear layer conforms") {
  conforms(linear{{.in = 4, .out = 3, .gelu = true}}, random_tensor({2, 4}, 5));
}

TEST_CASE("a linear layer refuses inputs of another width or rank") {
  const linear l{{.in = 4, .out = 3}};
  CHECK(l.output({{2, 4}, element::f32}) == tensor_spec{{2, 3}, element::f32});
  CHECK_THROWS_AS(l.output({{2, 5}, element::f32}), fault_error);
  CHECK_THROWS_AS(l.output({{2, 3, 4}, element::f32}), fault_error);
}

TEST_CASE("signatures distinguish layers of different cost") {
  const linear a{{.in = 4, .out = 3}}, b{{.in = 4, .out = 3}}, c{{.in = 4, .out = 3, .gelu = true}};
  CHECK(a.signature() == b.signature());
  CHECK(a.signature() != c.signature());
}
