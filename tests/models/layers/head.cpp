#include "models/layers/head.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

TEST_CASE("a head normalises and multiplies by the vocabulary's rows") {
  const head h{{.vocabulary = 7, .width = 4}};
  const auto p = random_parameters(h, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 3, 4}, 5, at::kDouble);
  const at::Tensor centred = x.sub(x.mean({-1}, true));
  const at::Tensor normed = centred.div(centred.square().mean({-1}, true).add(1e-5).sqrt());
  const at::Tensor expected = normed.mul(p[0]).add(p[1]).matmul(p[2].t());
  CHECK(distance(h.forward(p, x, {}), expected) < 1e-12);
}

TEST_CASE("a head conforms") {
  conforms(head{{.vocabulary = 7, .width = 4}}, random_tensor({2, 3, 4}, 5));
}

TEST_CASE("a head is a tied copy only if it is tied") {
  CHECK(head{{.vocabulary = 7, .width = 4}}.parameters()[2].tied_to.empty());
  const head tied{{.vocabulary = 7, .width = 4, .tied_to = "wte.weight"}};
  CHECK(tied.parameters()[2].tied_to == "wte.weight");
  CHECK(tied.output({{2, 3, 4}, element::f32}) == tensor_spec{{2, 3, 7}, element::f32});
  CHECK_THROWS_AS(tied.output({{2, 3, 6}, element::f32}), fault_error);
}

TEST_CASE("an RMS head normalises and multiplies by the vocabulary's rows") {
  const head h{{.vocabulary = 7, .width = 4, .eps = 0.1, .rms = true}};
  const auto p = random_parameters(h, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 3, 4}, 5, at::kDouble);
  const at::Tensor normed = x.div(x.square().mean({-1}, true).add(0.1).sqrt()).mul(p[0]);
  CHECK(distance(h.forward(p, x, {}), normed.matmul(p[1].t())) < 1e-12);
}

TEST_CASE("an RMS head conforms") {
  conforms(head{{.vocabulary = 7, .width = 4, .rms = true}}, random_tensor({2, 3, 4}, 5));
}

TEST_CASE("an RMS head is a tied copy only if it is tied") {
  CHECK(head{{.vocabulary = 7, .width = 4, .rms = true}}.parameters()[1].tied_to.empty());
  const head tied{{.vocabulary = 7, .width = 4, .tied_to = "model.embed_tokens.weight", .rms = true}};
  CHECK(tied.parameters()[1].tied_to == "model.embed_tokens.weight");
  CHECK(tied.output({{2, 3, 4}, element::f32}) == tensor_spec{{2, 3, 7}, element::f32});
  CHECK_THROWS_AS(tied.output({{2, 3, 6}, element::f32}), fault_error);
}

TEST_CASE("an RMS head caps its logits by a tanh, and its norm may have an offset") {
  const head plain{{.vocabulary = 7, .width = 4, .eps = 0.1, .rms = true}};
  const head capped{{.vocabulary = 7, .width = 4, .eps = 0.1, .rms = true, .offset_norm = true, .logit_cap = 0.3}};
  auto p = random_parameters(plain, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 3, 4}, 5, at::kDouble), logits = plain.forward(p, x, {});
  p[0] = p[0].sub(1);
  CHECK(distance(capped.forward(p, x, {}), logits.div(0.3).tanh().mul(0.3)) < 1e-12);
  conforms(capped, x);
  CHECK(capped.parameters()[0].initial.value == 0);
}
