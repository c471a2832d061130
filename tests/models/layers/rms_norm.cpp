#include "models/layers/rms_norm.hpp"

#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

TEST_CASE("an RMS norm divides by the root of the mean square and multiplies by the weight") {
  const at::Tensor x = random_tensor({2, 3, 4}, 1, at::kDouble), weight = random_tensor({4}, 2, at::kDouble);
  const at::Tensor expected = x.div(x.square().mean({-1}, true).add(0.1).sqrt()).mul(weight);
  CHECK(distance(rms_norm(x, weight, 0.1), expected) < 1e-12);
}

TEST_CASE("an RMS norm's gradients are those of the numerical derivative") {
  const std::vector leaves{random_tensor({2, 3, 4}, 1, at::kDouble).set_requires_grad(true),
                           random_tensor({4}, 2, at::kDouble).set_requires_grad(true)};
  const at::Tensor along = random_tensor({2, 3, 4}, 3, at::kDouble);
  CHECK(gradient_error([&] { return rms_norm(leaves[0], leaves[1], 1e-5).mul(along).sum(); }, leaves) < 1e-8);
}
