#include "models/layers/encoder_attention.hpp"

#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;

namespace encoder_attention_test {

constexpr layer_context evaluation{.training = false};

attention_projections random_projections(at::ScalarType type) {
  return {random_tensor({2, 5, 8}, 1, type), random_tensor({2, 5, 8}, 2, type), random_tensor({2, 5, 8}, 3, type)};
}

/// The second sample has two tokens and three padding tokens.
at::Tensor some_padding(at::ScalarType type) {
  const at::Tensor mask = zeros({2, 5}, type).fill_(1);
  mask[1].narrow(0, 2, 3).fill_(0);
  return mask;
}

/// One head over the unmasked keys only.
at::Tensor plain_head(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const at::Tensor scores = q.matmul(k.t()).div(std::sqrt(static_cast<double>(q.size(1))));
  return scores.softmax(-1).matmul(v);
}

at::Tensor plain_attention(const attention_projections& p, std::int64_t sample, std::int64_t keys) {
  at::Tensor result = zeros({5, 8}, at::kDouble);
  for (std::int64_t h = 0; h < 2; ++h) {
    const auto part = [&](const at::Tensor& t, std::int64_t n) {
      return t[sample].narrow(0, 0, n).narrow(1, 4 * h, 4);
    };
    result.narrow(1, 4 * h, 4).copy_(plain_head(part(p.query, 5), part(p.key, keys), part(p.value, keys)));
  }
  return result;
}

TEST_CASE("an encoder's attention attends to every token and to no padding, fused or with explicit probabilities") {
  const auto p = random_projections(at::kDouble);
  const at::Tensor bias = key_bias(some_padding(at::kDouble));
  for (const double dropout : {0.0, 0.5}) {  // not applied in evaluation, but chooses the implementation
    const at::Tensor y = encoder_attention(p, bias, {.heads = 2, .dropout = dropout}, evaluation);
    CHECK(distance(y[0], plain_attention(p, 0, 5)) < 1e-12);
    CHECK(distance(y[1], plain_attention(p, 1, 2)) < 1e-12);
  }
}

TEST_CASE("attention without a bias attends to every key") {
  const auto p = random_projections(at::kDouble);
  for (const double dropout : {0.0, 0.5})
    CHECK(distance(encoder_attention(p, {}, {.heads = 2, .dropout = dropout}, evaluation)[1],
                   plain_attention(p, 1, 5)) < 1e-12);
}

TEST_CASE("dropout of the attention's probabilities depends on step and site and keeps their sum on average") {
  const auto p = random_projections(at::kFloat);
  const auto attend = [&](std::uint32_t site, std::uint32_t step) {
    return encoder_attention(p, {}, {.heads = 2, .dropout = 0.5, .site = site}, {.seed = 3, .step = step});
  };
  CHECK(same_bits(attend(0, 0), attend(0, 0)));
  CHECK_FALSE(same_bits(attend(0, 0), attend(1, 0)));
  CHECK_FALSE(same_bits(attend(0, 0), attend(0, 1)));
  at::Tensor sum = zeros({2, 5, 8});
  for (std::uint32_t step = 0; step < 4000; ++step) sum = sum.add(attend(0, step));
  CHECK(distance(sum.div(4000), encoder_attention(p, {}, {.heads = 2}, evaluation)) < 0.1);
}

TEST_CASE("a sample of padding only gives finite numbers") {
  const auto p = random_projections(at::kFloat);
  for (const double dropout : {0.0, 0.5}) {
    const at::Tensor y = encoder_attention(p, key_bias(zeros({2, 5})), {.heads = 2, .dropout = dropout}, evaluation);
    CHECK(std::isfinite(number(y.sum())));
  }
}

TEST_CASE("heads must divide the width") {
  CHECK_NOTHROW(require_heads("x", 2, 8));
  CHECK_THROWS_WITH(require_heads("x", 3, 8), Catch::Matchers::Contains("x: 3 heads do not divide width 8"));
  CHECK_THROWS_AS(require_heads("x", 0, 8), fault_error);
}

}  // namespace encoder_attention_test
