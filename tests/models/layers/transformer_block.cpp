#include "models/decode_memory.hpp"
#include "models/layers/transformer_block.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numbers>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace transformer_block_test {

const transformer_block_options small{.width = 8, .heads = 2, .layers = 3};

// A second implementation of the block, in basic operations.

at::Tensor plain_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const at::Tensor centred = x.sub(x.mean({-1}, true));
  const at::Tensor variance = centred.square().mean({-1}, true);
  return centred.div(variance.add(1e-5).sqrt()).mul(weight).add(bias);
}

at::Tensor plain_gelu(const at::Tensor& x) {
  const at::Tensor inner = x.add(x.pow(3).mul(0.044715)).mul(std::sqrt(2 / std::numbers::pi));
  return x.mul(0.5).mul(inner.tanh().add(1));
}

at::Tensor plain_head(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const std::int64_t tokens = q.size(1);
  const at::Tensor future = zeros({tokens, tokens}, at::kDouble).fill_(1).triu(1).to(at::kBool);
  const at::Tensor scores = q.matmul(k.transpose(1, 2)).div(std::sqrt(static_cast<double>(q.size(2))));
  return scores.masked_fill(future, -INFINITY).softmax(-1).matmul(v);
}

at::Tensor plain_block(const std::vector<at::Tensor>& p, const at::Tensor& x, std::int64_t heads) {
  const std::int64_t width = x.size(2), each = width / heads;
  const at::Tensor qkv = plain_norm(x, p[0], p[1]).matmul(p[2]).add(p[3]);
  at::Tensor mixed = zeros(x.sizes().vec(), at::kDouble);
  for (std::int64_t h = 0; h < heads; ++h) {
    const auto part = [&](std::int64_t which) { return qkv.narrow(2, which * width + h * each, each); };
    mixed.narrow(2, h * each, each).copy_(plain_head(part(0), part(1), part(2)));
  }
  const at::Tensor y = x.add(mixed.matmul(p[4]).add(p[5]));
  return y.add(plain_gelu(plain_norm(y, p[6], p[7]).matmul(p[8]).add(p[9])).matmul(p[10]).add(p[11]));
}

TEST_CASE("a block equals its second implementation in basic operations") {
  const transformer_block block{small};
  const auto p = random_parameters(block, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 5, 8}, 9, at::kDouble);
  CHECK(distance(block.forward(p, x, {}), plain_block(p, x, 2)) < 1e-10);
}

TEST_CASE("a block conforms") {
  conforms(transformer_block{small}, random_tensor({2, 5, 8}, 9));
}

TEST_CASE("a token's output does not depend on later tokens") {
  const transformer_block block{small};
  const auto p = random_parameters(block, 1, at::kDouble);
  const at::Tensor x = random_tensor({1, 5, 8}, 9, at::kDouble), changed = x.clone();
  changed.narrow(1, 3, 2).fill_(1);
  const at::Tensor a = block.forward(p, x, {}), b = block.forward(p, changed, {});
  CHECK(distance(a.narrow(1, 0, 3), b.narrow(1, 0, 3)) == 0);
  CHECK(distance(a.narrow(1, 3, 2), b.narrow(1, 3, 2)) > 0.1);
}

TEST_CASE("a block computes the same bits again, with and without gradients") {
  const transformer_block block{{.width = 8, .heads = 2, .layers = 3, .dropout = 0.1}};
  const auto p = random_parameters(block, 1);
  const at::Tensor x = random_tensor({2, 5, 8}, 9);
  const layer_context context{.seed = 1, .step = 2, .micro_batch = 3, .layer = 4};
  const at::Tensor with_graph = block.forward(p, x, context);
  for (const at::Tensor& parameter : p) parameter.set_requires_grad(false);
  CHECK(same_bits(with_graph, block.forward(p, x, context)));
}

TEST_CASE("a block drops the attention's output and the MLP's with different masks") {
  const transformer_block block{{.width = 8, .heads = 2, .layers = 3, .dropout = 0.5}};
  std::vector<at::Tensor> p = random_parameters(block, 1);
  for (const std::size_t projection : {4, 10}) p[projection].detach().zero_(), p[projection + 1].detach().fill_(1);
  const at::Tensor x = zeros({2, 5, 8}), y = block.forward(p, x, {});  // each output is one: if kept, it becomes two
  for (const double both_one_none : {0, 2, 4}) CHECK(number(y.eq(both_one_none).sum()) > 0);
}

TEST_CASE("a block gives the same for a text in pieces as for the whole text") {
  const transformer_block block{{.width = 8, .heads = 2, .layers = 3, .dropout = 0.5}};
  const auto p = random_parameters(block, 1);
  const at::Tensor x = random_tensor({2, 10, 8}, 9), whole = block.forward(p, x, {.training = false});
  decode_memory memory;
  for (const std::int64_t fresh : {5, 1, 1, 3}) {
    const at::Tensor y = block.decode(p, x.narrow(1, memory.seen, fresh), {.training = false}, memory);
    CHECK(distance(y, whole.narrow(1, memory.seen, fresh)) < 1e-5 * number(whole.abs().max()));
    memory.seen += fresh;
  }
}

TEST_CASE("residual projections have smaller initial values in deeper models") {
  const auto parameters = transformer_block{small}.parameters();
  CHECK(parameters[4].initial.value == Approx(0.02 / std::sqrt(6)));
  CHECK(parameters[10].initial.value == Approx(0.02 / std::sqrt(6)));
  CHECK(parameters[2].initial.value == Approx(0.02));
  CHECK(parameters[0].initial.value == 1);
  CHECK(parameters[3].initial.value == 0);
}

TEST_CASE("a block refuses heads that do not divide the width and inputs of another width") {
  CHECK_THROWS_WITH((transformer_block{{.width = 8, .heads = 3}}), Contains("3 heads do not divide width 8"));
  CHECK_THROWS_WITH((transformer_block{{.width = 8, .heads = 2, .dropout = 1}}), Contains("dropout is 1"));
  CHECK_THROWS_AS(transformer_block{small}.output({{2, 5, 7}, element::f32}), fault_error);
}

}  // namespace transformer_block_test
