#include "models/layers/norms.hpp"

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

TEST_CASE("an RMS norm with an offset multiplies by one more than the weight, also where bf16 would round that") {
  const at::Tensor x = random_tensor({2, 3, 4}, 1, at::kDouble), weight = random_tensor({4}, 2, at::kDouble);
  CHECK(distance(rms_norm(x, weight, 0.1, true), rms_norm(x, weight.add(1), 0.1)) < 1e-12);
  const auto bf16 = [](const at::Tensor& t) { return t.to(at::kBFloat16); };
  const at::Tensor y = zeros({1, 4}), small = zeros({4}).fill_(0.0038);
  for (std::int64_t i = 0; i < 4; ++i) y.select(1, i).fill_(i % 2 == 0 ? 1 : 0.5);
  const at::Tensor found = rms_norm(bf16(y), bf16(small), 0, true),
                   without = rms_norm(bf16(y), bf16(zeros({4})), 0, true);
  CHECK(number(bf16(small).add(1).ne(1).sum().to(at::kFloat)) == 0);  // rounded, 1 + small is 1
  CHECK(number(found.ne(without).sum().to(at::kFloat)) > 0);
}

TEST_CASE("the gradients of an RMS norm with an offset are those of the numerical derivative") {
  const std::vector leaves{random_tensor({2, 3, 4}, 1, at::kDouble).set_requires_grad(true),
                           random_tensor({4}, 2, at::kDouble).set_requires_grad(true)};
  const at::Tensor along = random_tensor({2, 3, 4}, 3, at::kDouble);
  CHECK(gradient_error([&] { return rms_norm(leaves[0], leaves[1], 1e-5, true).mul(along).sum(); }, leaves) < 1e-8);
}

TEST_CASE("group norm normalises the values of a group of channels, then scales and shifts each channel") {
  const at::Tensor x = random_tensor({2, 6, 3, 4}, 1, at::kDouble);
  const at::Tensor weight = random_tensor({6}, 2, at::kDouble), bias = random_tensor({6}, 3, at::kDouble);
  const at::Tensor rows = x.view({2, 3, 24});
  const at::Tensor centred = rows.sub(rows.mean({-1}, true));
  const at::Tensor normed = centred.div(centred.square().mean({-1}, true).add(1e-5).sqrt()).view({2, 6, 3, 4});
  const at::Tensor expected = normed.mul(weight.view({6, 1, 1})).add(bias.view({6, 1, 1}));
  CHECK(distance(group_norm(x, 3, weight, bias), expected) < 1e-12);
}
