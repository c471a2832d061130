#include "models/families/gemma/gemma.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using Catch::Matchers::Contains;

namespace gemma_test {

chain build(const gemma_options& options) {
  return gemma(options).build(
      *open_data({synthetic_language{.symbols = 9, .tokens = 10000, .validation_tokens = 0}}, options.context));
}

const gemma_options small{.layers = 3, .width = 9, .heads = 3, .head_size = 4, .hidden = 12, .context = 6};

TEST_CASE("gemma at Google's sizes has Google's number of parameters") {
  const gemma_options gemma2{.layers = 26,
                             .width = 2304,
                             .heads = 8,
                             .kv_heads = 4,
                             .head_size = 256,
                             .hidden = 9216,
                             .context = 8192,
                             .vocabulary = 256000};
  CHECK(build(gemma2).parameter_count() == 2614341888);
  const gemma_options gemma3{.layers = 26,
                             .width = 1152,
                             .heads = 4,
                             .kv_heads = 1,
                             .head_size = 256,
                             .hidden = 6912,
                             .context = 8192,
                             .vocabulary = 262144,
                             .qk_norm = true};
  CHECK(build(gemma3).parameter_count() == 999885952);
}

TEST_CASE("gemma scales its embeddings by the root of the width, and ties its head unless it is told not to") {
  const chain model = build(small);
  CHECK_THAT(model.at(0).body->signature(), Contains("scale=3"));
  CHECK(model.parameters(4)[1].tied_to == "model.embed_tokens.weight");
  gemma_options untied = small;
  untied.tied = false;
  CHECK(build(untied).parameters(4)[1].tied_to.empty());
}

TEST_CASE("gemma's blocks without a window have positions of their own") {
  gemma_options o = small;
  o.window = 4;
  o.full_layers = {1};
  o.rope_theta = 5000;
  o.rope_factor = 8;
  CHECK_THAT(build(o).at(1).body->signature(), Contains("theta=5000 scaling=linear 8") && Contains("window=4"));
  o.local_rope_theta = 100;
  const chain model = build(o);
  for (const std::size_t layer : {1u, 3u})
    CHECK_THAT(model.at(layer).body->signature(), Contains("theta=100 scaling=none 1") && Contains("window=4"));
  CHECK_THAT(model.at(2).body->signature(), Contains("theta=5000 scaling=linear 8") && Contains("window=0"));
}

TEST_CASE("gemma refuses impossible options before it knows the data") {
  const auto refuses = [](auto change, const std::string& why) {
    gemma_options o = small;
    change(o);
    CHECK_THROWS_WITH(gemma(o), Contains("gemma: " + why));
  };
  refuses([](gemma_options& o) { o.layers = 0; }, "layers is 0");
  refuses([](gemma_options& o) { o.score_cap = -1; }, "score_cap is -1");
  refuses([](gemma_options& o) { o.logit_cap = -1; }, "logit_cap is -1");
  refuses([](gemma_options& o) { o.query_scale = -1; }, "query_scale is -1");
  refuses([](gemma_options& o) { o.local_rope_theta = -1; }, "local_rope_theta is -1");
  refuses([](gemma_options& o) { o.window = -1; }, "window is -1");
}

}  // namespace gemma_test
