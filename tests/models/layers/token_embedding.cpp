#include "models/decode_memory.hpp"
#include "models/layers/token_embedding.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

TEST_CASE("a token embedding conforms") {
  conforms(token_embedding{{.vocabulary = 7, .context = 6, .width = 4, .scale = 2}}, random_ids({2, 5}, 7, 3));
}

TEST_CASE("a token embedding is the token's row") {
  const token_embedding e{{.vocabulary = 7, .context = 6, .width = 4}};
  const auto p = random_parameters(e, 1);
  const at::Tensor ids = random_ids({2, 5}, 7, 3), y = e.forward(p, ids, {});
  for (std::int64_t t = 0; t < 5; ++t) CHECK(same_bits(y[1][t], p[0][ids[1][t].const_data_ptr<std::int64_t>()[0]]));
}

TEST_CASE("a token embedding refuses real numbers and samples longer than its context, whole or in pieces") {
  const token_embedding e{{.vocabulary = 7, .context = 6, .width = 4}};
  CHECK(e.output({{2, 6}, element::i64}) == tensor_spec{{2, 6, 4}, element::f32});
  CHECK_THROWS_WITH(e.output({{2, 7}, element::i64}), Contains("7 tokens") && Contains("context is 6"));
  CHECK_THROWS_WITH(e.output({{2, 6}, element::f32}), Contains("wants i64"));
  const auto p = random_parameters(e, 1);
  decode_memory memory{.seen = 4};
  CHECK_NOTHROW(e.decode(p, random_ids({1, 2}, 7, 3), {}, memory));
  CHECK_THROWS_WITH(e.decode(p, random_ids({1, 3}, 7, 3), {}, memory),
                    Contains("7 tokens") && Contains("context is 6"));
}

TEST_CASE("the padding's vector is not trained by the embedding") {
  const auto gradient = [](std::int64_t padding) {
    const token_embedding e{{.vocabulary = 7, .context = 6, .width = 4, .padding = padding}};
    const auto p = random_parameters(e, 1);
    e.forward(p, random_ids({2, 6}, 7, 3), {}).pow(3).sum().backward();
    return p[0].grad();
  };
  const at::Tensor all = gradient(-1);
  const std::int64_t id = random_ids({2, 6}, 7, 3)[0][0].item<std::int64_t>();
  CHECK(number(all[id].abs().sum()) > 0);
  CHECK(number(gradient(id)[id].abs().sum()) == 0);
  CHECK(number(gradient(id).abs().sum()) < number(all.abs().sum()));
  CHECK(token_embedding{{.vocabulary = 7, .context = 6, .width = 4, .padding = 2}}.signature() !=
        token_embedding{{.vocabulary = 7, .context = 6, .width = 4}}.signature());
}

TEST_CASE("a token embedding multiplies by its scale") {
  const token_embedding plain{{.vocabulary = 7, .context = 6, .width = 4}};
  const token_embedding scaled{{.vocabulary = 7, .context = 6, .width = 4, .scale = 2}};
  const auto p = random_parameters(plain, 1);
  const at::Tensor ids = random_ids({2, 5}, 7, 3);
  CHECK(same_bits(scaled.forward(p, ids, {}), plain.forward(p, ids, {}).mul(2)));
  CHECK(scaled.signature() != plain.signature());
}
