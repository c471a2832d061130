#include "models/layers/pooled_head.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace pooled_head_test {

const pooled_head head{{.in = 4, .out = 3}};

TEST_CASE("a pooled head is linear in the channels' means") {
  const auto p = random_parameters(head, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 4, 5, 3}, 5, at::kDouble);
  CHECK(distance(head.forward(p, x, {}), x.mean({2, 3}).matmul(p[0].t()).add(p[1])) < 1e-12);
}

TEST_CASE("a pooled head conforms") {
  conforms(head, random_tensor({2, 4, 5, 3}, 5));
}

TEST_CASE("the gradient of a pooled head's input is in C order") {
  const at::Tensor x = random_tensor({2, 4, 5, 3}, 5).set_requires_grad(true);
  at::Tensor seen;
  const at::Tensor inner = x.mul(1);
  inner.register_hook([&](const at::Tensor& gradient) { seen = gradient; });
  head.forward(random_parameters(head, 1), inner, {}).sum().backward();
  CHECK(seen.is_contiguous());
}

TEST_CASE("a pooled head refuses images of other channels") {
  CHECK(head.output({{2, 4, 5, 3}, element::f32}) == tensor_spec{{2, 3}, element::f32});
  CHECK_THROWS_AS(head.output({{2, 5, 5, 3}, element::f32}), fault_error);
}

}  // namespace pooled_head_test
