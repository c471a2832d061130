#include "models/decode_memory.hpp"
#include "models/layers/attention.hpp"

#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;

namespace attention_test {

attention_heads random_heads(std::int64_t tokens) {
  return {random_tensor({2, 4, tokens, 6}, 1), random_tensor({2, 2, tokens, 6}, 2),
          random_tensor({2, 2, tokens, 6}, 3)};
}

attention_heads part(const attention_heads& h, std::int64_t first, std::int64_t count) {
  return {h.queries.narrow(2, first, count), h.keys.narrow(2, first, count), h.values.narrow(2, first, count)};
}

/// softmax(scale * Q K^T, capped) V over the last `window` tokens, in basic operations, for as many keys as queries.
at::Tensor plain_attention(const attention_heads& h, const attention_form& form) {
  const auto twice = [](const at::Tensor& x) { return x.repeat_interleave(2, 1); };
  const std::int64_t tokens = h.queries.size(2);
  at::Tensor scores = h.queries.matmul(twice(h.keys).transpose(2, 3));
  scores = form.scale > 0 ? scores.mul(form.scale) : scores.div(std::sqrt(6.0));
  if (form.score_cap > 0) scores = scores.div(form.score_cap).tanh().mul(form.score_cap);
  const at::Tensor all = zeros({tokens, tokens}).fill_(1), shown = all.tril().sub(all.tril(-form.window));
  return scores.masked_fill(shown.eq(0), -INFINITY).softmax(-1).matmul(twice(h.values));
}

const attention_form forms[]{
    {.window = 4}, {.window = 1}, {.window = 4, .scale = 0.3}, {.window = 7, .score_cap = 0.5}};

TEST_CASE("attention over a window, scaled and with capped scores, equals that in basic operations") {
  const attention_heads h = random_heads(9);
  for (const attention_form& form : forms) {
    CHECK(distance(causal_attention(h, {}, form), plain_attention(h, form)) < 1e-6);
    CHECK(distance(causal_attention(h, {}, form), causal_attention(h)) > 1e-3);
  }
  const attention_form capped{.scale = 2, .score_cap = 0.5}, all{.window = 9, .scale = 2, .score_cap = 0.5};
  CHECK(distance(causal_attention(h, {}, capped), plain_attention(h, all)) < 1e-6);
}

TEST_CASE("a window that holds all tokens changes no bit") {
  const attention_heads h = random_heads(9);
  CHECK(same_bits(causal_attention(h, {}, {.window = 9}), causal_attention(h)));
}

TEST_CASE("a window counts the tokens of its record") {
  const attention_heads h = random_heads(9);
  const at::Tensor starts = zeros({2, 9});
  starts.select(1, 0).fill_(1);
  starts.select(1, 3).fill_(1);
  for (const attention_form& form : forms) {
    const at::Tensor packed = causal_attention(h, starts, form);
    CHECK(distance(packed.narrow(2, 0, 3), causal_attention(part(h, 0, 3), {}, form)) < 1e-6);
    CHECK(distance(packed.narrow(2, 3, 6), causal_attention(part(h, 3, 6), {}, form)) < 1e-6);
  }
}

TEST_CASE("attention over a window of a growing text equals that over the whole text") {
  const attention_heads h = random_heads(80);
  for (const attention_form& form : forms) {
    const at::Tensor whole = causal_attention(h, {}, form);
    decode_memory memory;
    for (const std::int64_t fresh : {2, 1, 1, 3, 1, 1, 10, 1, 60}) {
      const at::Tensor y = growing_attention(part(h, memory.seen, fresh), memory, form);
      CHECK(distance(y, whole.narrow(2, memory.seen, fresh)) < 1e-6);
      memory.seen += fresh;
    }
  }
}

TEST_CASE("neighbouring query heads share the keys and values of their group") {
  const attention_heads h = random_heads(5);
  const auto twice = [](const at::Tensor& x) { return x.repeat_interleave(2, 1); };
  CHECK(same_bits(causal_attention(h), causal_attention({h.queries, twice(h.keys), twice(h.values)})));
}

TEST_CASE("attention over a growing text, beyond its initial capacity, equals that over the whole text") {
  const attention_heads h = random_heads(150);
  const at::Tensor whole = causal_attention(h);
  decode_memory memory;
  for (const std::int64_t fresh : {60, 1, 1, 1, 2, 1, 84}) {
    const at::Tensor y = growing_attention(part(h, memory.seen, fresh), memory);
    CHECK(distance(y, whole.narrow(2, memory.seen, fresh)) < 1e-6);
    memory.seen += fresh;
  }
  CHECK(memory.tensors[0].size(2) == 192);
}

TEST_CASE("dropout zeroes attention's probabilities at random, by key, and none in evaluation") {
  const attention_heads h{random_tensor({2, 3, 7, 4}, 1), random_tensor({2, 3, 7, 4}, 2),
                          random_tensor({2, 3, 7, 4}, 3)};
  const layer_context trains{.seed = 3, .step = 1};
  layer_context evaluates = trains;
  evaluates.training = false;
  CHECK(same_bits(dropped_attention(h, 0, trains, 2), causal_attention(h)));
  CHECK(distance(dropped_attention(h, 0.4, evaluates, 2), causal_attention(h)) < 1e-6);
  CHECK(same_bits(dropped_attention(h, 0.4, trains, 2), dropped_attention(h, 0.4, trains, 2)));
  CHECK_FALSE(same_bits(dropped_attention(h, 0.4, trains, 2), dropped_attention(h, 0.4, trains, 1)));
  // The first token attends only to itself: its value is kept and scaled, or dropped.
  const at::Tensor first = dropped_attention(h, 0.4, trains, 2).select(2, 0).div(h.values.select(2, 0));
  for (std::int64_t i = 0; i < first.numel(); ++i) {
    const float share = first.contiguous().const_data_ptr<float>()[i];
    CHECK((std::abs(share) < 1e-6F || std::abs(share - 1 / 0.6F) < 1e-5F));
  }
}

TEST_CASE("splitting into heads and joining are inverse") {
  const at::Tensor x = random_tensor({2, 3, 8}, 1);
  CHECK(split_heads(x, 2).size(3) == 4);
  CHECK(same_bits(join_heads(split_heads(x, 2)), x));
}

}  // namespace attention_test
