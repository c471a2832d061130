#include "models/layers/bert_block.hpp"

#include "models/layers/masked_tokens.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace bert_block_test {

const bert_block_options small{.width = 8, .heads = 2, .hidden = 12};

bert_block_options with(activation f) {
  bert_block_options o = small;
  o.act = f;
  return o;
}

/// [2, tokens, 9]; the second sample has three tokens, the rest is padding.
at::Tensor random_input(std::int64_t tokens, at::ScalarType type) {
  const at::Tensor vectors = random_tensor({2, 7, 8}, 9, type).narrow(1, 0, tokens).contiguous();
  const at::Tensor mask = zeros({2, tokens}, type).fill_(1);
  mask[1].narrow(0, 3, tokens - 3).fill_(0);
  return join_mask({vectors, mask});
}

TEST_CASE("a BERT block's gradients are those of the numerical derivative, with padding and each activation") {
  for (const activation f : {activation::gelu, activation::gelu_tanh, activation::relu}) {
    // the mask is an input without gradient: only the vectors are differentiated
    const bert_block block{with(f)};
    std::vector<at::Tensor> leaves = random_parameters(block, 1, at::kDouble);
    const std::vector<at::Tensor> parameters = leaves;
    const auto [vectors, mask] = split_mask(random_input(5, at::kDouble));
    const at::Tensor x = vectors.detach().set_requires_grad(true), present = mask;
    leaves.push_back(x);
    const at::Tensor weights = random_tensor({2, 5, 9}, 2, at::kDouble);
    const auto f_of = [&] { return block.forward(parameters, join_mask({x, present}), {}).mul(weights).sum(); };
    CHECK(gradient_error(f_of, leaves) < 1e-6);
  }
}

TEST_CASE("a BERT block passes the mask on and its outputs are normalised") {
  const bert_block block{small};
  auto p = random_parameters(block, 1);
  for (at::Tensor& t : p) t = t.detach();
  p[14].fill_(1), p[15].fill_(0);
  const at::Tensor x = random_input(5, at::kFloat), y = block.forward(p, x, {});
  CHECK(same_bits(y.select(2, 8), x.select(2, 8)));
  CHECK(number(y.narrow(2, 0, 8).mean({-1}).abs().max()) < 1e-5);
}

TEST_CASE("padding after a text does not affect its tokens, whatever its content") {
  const bert_block block{small};
  const auto p = random_parameters(block, 1);
  const at::Tensor shorter = block.forward(p, random_input(5, at::kFloat), {})[1].narrow(0, 0, 3);
  const at::Tensor longer = block.forward(p, random_input(7, at::kFloat), {})[1].narrow(0, 0, 3);
  CHECK(distance(shorter, longer) < 1e-6);
  const at::Tensor other = random_input(5, at::kFloat);
  other[1].narrow(0, 3, 2).narrow(1, 0, 8).fill_(100);
  CHECK(distance(shorter, block.forward(p, other, {})[1].narrow(0, 0, 3)) < 1e-6);
}

TEST_CASE("a BERT block's signature distinguishes whatever affects its behaviour") {
  std::vector<bert_block_options> all(8, small);
  all[1].width = 16, all[2].heads = 4, all[3].hidden = 13, all[4].act = activation::relu;
  all[5].dropout = 0.1, all[6].attention_dropout = 0.1, all[7].eps = 1e-5;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(bert_block{all[i]}.signature() != bert_block{all[j]}.signature());
}

TEST_CASE("a BERT block refuses other widths and impossible options") {
  CHECK(bert_block{small}.output({{2, 5, 9}, element::f32}).shape == std::vector<std::int64_t>{2, 5, 9});
  CHECK_THROWS_AS(bert_block{small}.output({{2, 5, 8}, element::f32}), fault_error);
  CHECK_THROWS_AS((bert_block{{.width = 8, .heads = 3, .hidden = 12}}), fault_error);
  CHECK_THROWS_AS((bert_block{{.width = 8, .heads = 2, .hidden = 12, .eps = 0}}), fault_error);
}

}  // namespace bert_block_test
