#include "models/decode_memory.hpp"
#include "models/layers/attention.hpp"

#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;

namespace {

attention_heads random_heads(std::int64_t tokens) {
  return {random_tensor({2, 4, tokens, 6}, 1), random_tensor({2, 2, tokens, 6}, 2),
          random_tensor({2, 2, tokens, 6}, 3)};
}

attention_heads part(const attention_heads& h, std::int64_t first, std::int64_t count) {
  return {h.queries.narrow(2, first, count), h.keys.narrow(2, first, count), h.values.narrow(2, first, count)};
}

}  // namespace

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
  const attention_heads h{random_tensor({2, 3, 7, 4}, 1), random_tensor({2, 3, 7, 4}, 2), random_tensor({2, 3, 7, 4}, 3)};
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
