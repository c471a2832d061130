#include "models/layers/group_norm.hpp"

#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

TEST_CASE("group norm normalises the values of a group of channels, then scales and shifts each channel") {
  const at::Tensor x = random_tensor({2, 6, 3, 4}, 1, at::kDouble);
  const at::Tensor weight = random_tensor({6}, 2, at::kDouble), bias = random_tensor({6}, 3, at::kDouble);
  const at::Tensor rows = x.view({2, 3, 24});
  const at::Tensor centred = rows.sub(rows.mean({-1}, true));
  const at::Tensor normed = centred.div(centred.square().mean({-1}, true).add(1e-5).sqrt()).view({2, 6, 3, 4});
  const at::Tensor expected = normed.mul(weight.view({6, 1, 1})).add(bias.view({6, 1, 1}));
  CHECK(distance(group_norm(x, 3, weight, bias), expected) < 1e-12);
}
