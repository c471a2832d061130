#include "models/layers/bert_embedding.hpp"

#include "models/layers/masked_tokens.hpp"
#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace bert_embedding_test {

const bert_embedding_options small{.vocabulary = 7, .positions = 6, .width = 4};

at::Tensor random_texts(std::int64_t vocabulary) {
  const at::Tensor x = random_ids({2, 3, 5}, 2, 4);  // segments and masks
  x.select(1, 0).copy_(random_ids({2, 5}, vocabulary, 3));
  return x;
}

/// Mean 0 and variance 1 before weight and bias.
at::Tensor plain_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  const at::Tensor centred = x.sub(x.mean({-1}, true));
  return centred.div(centred.square().mean({-1}, true).add(eps).sqrt()).mul(weight).add(bias);
}

TEST_CASE("a BERT embedding normalises the sum of word, segment and position, and passes the mask on") {
  bert_embedding_options options = small;
  options.eps = 0.01;
  const auto p = random_parameters(bert_embedding{options}, 1, at::kDouble);
  const at::Tensor x = random_texts(7);
  const at::Tensor y = bert_embedding{options}.forward(p, x, {});
  for (std::int64_t s = 0; s < 2; ++s)
    for (std::int64_t t = 0; t < 5; ++t) {
      const auto id = [&](std::int64_t row) { return x[s][row][t].const_data_ptr<std::int64_t>()[0]; };
      const at::Tensor sum = p[0][id(0)].add(p[2][id(1)]).add(p[1][t]);
      CHECK(distance(y[s][t].narrow(0, 0, 4), plain_norm(sum, p[3], p[4], 0.01)) < 1e-12);
      CHECK(number(y[s][t][4]) == static_cast<double>(id(2)));
    }
}

TEST_CASE("a BERT embedding conforms") {
  bert_embedding_options smooth = small;  // with four features the norm's second derivative is large
  smooth.eps = 0.1;
  conforms(bert_embedding{smooth}, random_texts(7));
}

TEST_CASE("the padding's word vector is not trained by the embedding") {
  const at::Tensor x = random_texts(1);  // every id is 0
  const auto gradient = [&](std::int64_t padding) {
    bert_embedding_options options = small;
    options.padding = padding;
    const auto p = random_parameters(bert_embedding{options}, 1);
    bert_embedding{options}.forward(p, x, {}).pow(3).sum().backward();
    return number(p[0].grad().abs().sum());
  };
  CHECK(gradient(-1) > 0);
  CHECK(gradient(0) == 0);
}

TEST_CASE("the mask's column has no gradient") {
  const at::Tensor x = random_tensor({2, 3, 5}, 1).set_requires_grad(true);
  const auto [vectors, mask] = split_mask(x);
  CHECK_FALSE(mask.requires_grad());
  join_mask({vectors, mask}).sum().backward();
  CHECK(number(x.grad().narrow(2, 0, 4).min()) == 1);
  CHECK(number(x.grad().select(2, 4).abs().max()) == 0);
  CHECK(same_bits(join_mask({vectors, mask}), x));
}

TEST_CASE("a BERT embedding refuses samples of another form or beyond its positions") {
  const bert_embedding e{small};
  CHECK(e.output({{2, 3, 6}, element::i64}) == tensor_spec{{2, 6, 5}, element::f32});
  CHECK_THROWS_WITH(e.output({{2, 3, 7}, element::i64}), Contains("at most 6 tokens"));
  CHECK_THROWS_WITH(e.output({{2, 2, 6}, element::i64}), Contains("3 rows"));
  CHECK_THROWS_WITH(e.output({{2, 3, 6}, element::f32}), Contains("wants i64"));
  CHECK_THROWS_WITH((bert_embedding{{.vocabulary = 7, .positions = 6, .width = 4, .padding = 7}}),
                    Contains("padding is id 7"));
}

}  // namespace bert_embedding_test
