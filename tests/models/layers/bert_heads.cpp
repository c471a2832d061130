#include "models/layers/bert_classifier.hpp"
#include "models/layers/bert_masked_lm_head.hpp"
#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace {

const bert_masked_lm_head_options naming{.vocabulary = 7, .width = 8, .tied_to = "words"};
const bert_classifier_options classifying{.width = 8, .classes = 3};

}  // namespace

TEST_CASE("a masked-lm head conforms, and the mask has no gradient") {
  const bert_masked_lm_head head{naming};
  conforms(head, random_tensor({2, 5, 9}, 9));
  const at::Tensor x = random_tensor({2, 5, 9}, 9).set_requires_grad(true);
  head.forward(random_parameters(head, 1), x, {}).sum().backward();
  CHECK(number(x.grad().select(2, 8).abs().max()) == 0);
}

TEST_CASE("a masked-lm head is tied to the word embeddings and has its own bias") {
  const auto parameters = bert_masked_lm_head{naming}.parameters();
  CHECK(parameters[4].tied_to == "words");
  CHECK(parameters[4].shape == std::vector<std::int64_t>{7, 8});
  CHECK(parameters[5].name == "bias");
  CHECK(parameters[5].tied_to.empty());
  CHECK(bert_masked_lm_head{naming}.output({{2, 5, 9}, element::f32}) == tensor_spec{{2, 5, 7}, element::f32});
  CHECK_THROWS_AS(bert_masked_lm_head{naming}.output({{2, 5, 8}, element::f32}), fault_error);
}

TEST_CASE("a BERT classifier uses the first token only") {
  const bert_classifier head{classifying};
  const auto p = random_parameters(head, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 5, 9}, 9, at::kDouble);
  const at::Tensor pooled = x.select(1, 0).narrow(1, 0, 8).matmul(p[0].t()).add(p[1]).tanh();
  CHECK(distance(head.forward(p, x, {}), pooled.matmul(p[2].t()).add(p[3])) < 1e-12);
  conforms(head, x);
}

TEST_CASE("a BERT classifier drops out pooled values in training only") {
  bert_classifier_options o = classifying;
  o.dropout = 0.5;
  const auto p = random_parameters(bert_classifier{o}, 1);
  const at::Tensor x = random_tensor({2, 5, 9}, 9), plain = bert_classifier{classifying}.forward(p, x, {});
  CHECK_FALSE(same_bits(bert_classifier{o}.forward(p, x, {}), plain));
  CHECK(same_bits(bert_classifier{o}.forward(p, x, {.training = false}), plain));
  CHECK(bert_classifier{o}.signature() != bert_classifier{classifying}.signature());
}

TEST_CASE("a BERT classifier refuses other widths") {
  CHECK(bert_classifier{classifying}.output({{2, 5, 9}, element::f32}) == tensor_spec{{2, 3}, element::f32});
  CHECK_THROWS_AS(bert_classifier{classifying}.output({{2, 5, 8}, element::f32}), fault_error);
}
