#include "models/decode_memory.hpp"
#include "models/layers/embedding.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

TEST_CASE("an embedding adds the token's row and the position's row") {
  const embedding e{{.vocabulary = 7, .context = 6, .width = 4}};
  const auto p = random_parameters(e, 1);
  const at::Tensor ids = random_ids({2, 5}, 7, 3);
  const at::Tensor y = e.forward(p, ids, {});
  for (std::int64_t s = 0; s < 2; ++s)
    for (std::int64_t t = 0; t < 5; ++t)
      CHECK(same_bits(y[s][t], p[0][ids[s][t].const_data_ptr<std::int64_t>()[0]].add(p[1][t])));
}

TEST_CASE("an embedding conforms") {
  conforms(embedding{{.vocabulary = 7, .context = 6, .width = 4}}, random_ids({2, 5}, 7, 3));
}

TEST_CASE("an embedding of a growing text continues where the text ended, up to its context") {
  const embedding e{{.vocabulary = 7, .context = 6, .width = 4, .dropout = 0.5}};
  const auto p = random_parameters(e, 1);
  const at::Tensor ids = random_ids({2, 6}, 7, 3), whole = e.forward(p, ids, {.training = false});
  decode_memory memory{.seen = 4};
  CHECK(same_bits(e.decode(p, ids.narrow(1, 4, 2), {}, memory), whole.narrow(1, 4, 2)));
  CHECK_THROWS_WITH(e.decode(p, ids.narrow(1, 3, 3), {}, memory), Contains("7 tokens") && Contains("context is 6"));
}

TEST_CASE("an embedding refuses real numbers and samples longer than its context") {
  const embedding e{{.vocabulary = 7, .context = 6, .width = 4}};
  CHECK(e.output({{2, 6}, element::i64}) == tensor_spec{{2, 6, 4}, element::f32});
  CHECK_THROWS_WITH(e.output({{2, 7}, element::i64}), Contains("7 tokens") && Contains("context is 6"));
  CHECK_THROWS_WITH(e.output({{2, 6}, element::f32}), Contains("wants i64"));
  CHECK_THROWS_WITH((embedding{{.vocabulary = 0, .context = 6, .width = 4}}), Contains("vocabulary is 0"));
}
