#include "models/families/gemma/gemma_config.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace hydra;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json small() {
  return {{"vocab_size", 9},
          {"hidden_size", 8},
          {"intermediate_size", 12},
          {"num_hidden_layers", 6},
          {"num_attention_heads", 2},
          {"num_key_value_heads", 1},
          {"head_dim", 4},
          {"max_position_embeddings", 32},
          {"query_pre_attn_scalar", 16},
          {"sliding_window", 5},
          {"hidden_activation", "gelu_pytorch_tanh"}};
}

json with(json config, const char* key, json value) {
  config[key] = std::move(value);
  return config;
}

model_config file(json config) { return {"m/config.json", std::move(config)}; }

chain build(const chain_description& d) {
  return d.build(*open_data({synthetic_language{.symbols = 9, .tokens = 100, .validation_tokens = 0}}, d.context));
}

std::string block_of(const chain_description& d, std::size_t i) { return build(d).at(i).body->signature(); }

}  // namespace

TEST_CASE("Gemma 2 has caps, and a window in every other layer, unless config.json says otherwise") {
  const chain model = build(gemma2_from_config(file(small()), {}));
  CHECK_THAT(model.at(1).body->signature(), Contains("window=5 scale=0.25 score_cap=50"));
  CHECK_THAT(model.at(2).body->signature(), Contains("window=0 scale=0.25 score_cap=50"));
  CHECK_THAT(model.at(7).body->signature(), Contains("logit_cap=30"));
  const json uncapped = with(with(small(), "attn_logit_softcapping", nullptr), "final_logit_softcapping", nullptr);
  CHECK_THAT(block_of(gemma2_from_config(file(uncapped), {}), 1), Contains("score_cap=0"));
  CHECK_THAT(block_of(gemma2_from_config(file(uncapped), {}), 7), Contains("logit_cap=0"));
}

TEST_CASE("Gemma 3 has norms of queries and keys, no caps, and every sixth layer without a window") {
  const chain model = build(gemma3_from_config(file(small()), {}));
  for (std::size_t i = 1; i <= 5; ++i)
    CHECK_THAT(model.at(i).body->signature(), Contains("theta=10000 ") && Contains("qk_norm=true window=5"));
  CHECK_THAT(model.at(6).body->signature(), Contains("theta=1000000 ") && Contains("window=0 scale=0.25 score_cap=0"));
  CHECK_THAT(block_of(gemma3_from_config(file(with(small(), "sliding_window_pattern", 2)), {}), 2),
             Contains("window=0"));
}

TEST_CASE("Gemma 3's positions are read from the keys of transformers 5 and of earlier versions") {
  const json full{{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 5000.0}};
  const json now =
      with(small(), "rope_parameters",
           {{"full_attention", full}, {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 70.0}}}});
  json old = with(with(small(), "rope_theta", 5000.0), "rope_local_base_freq", 70.0);
  old["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 8.0}};
  json unbased = old;
  unbased.erase("rope_scaling");
  unbased["rope_parameters"] = {{"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}}}};
  json based = old;
  based.erase("rope_theta");
  based["rope_scaling"]["rope_theta"] = 5000.0;
  for (const json& config : {now, old, unbased, based}) {
    const chain model = build(gemma3_from_config(file(config), {}));
    CHECK_THAT(model.at(1).body->signature(), Contains("theta=70 scaling=none"));
    CHECK_THAT(model.at(6).body->signature(), Contains("theta=5000 scaling=linear 8"));
  }
  for (const char* const key : {"rope_theta", "rope_local_base_freq"})
    CHECK_THROWS_WITH(
        gemma3_from_config(file(with(now, key, 7.0)), {}),
        Contains("attention.rope_theta: ") && Contains(std::string{"contradicts "} + key + " = 7 outside"));
  CHECK_THROWS_WITH(gemma3_from_config(file(with(based, "rope_theta", 7.0)), {}),
                    Contains("rope_scaling.rope_theta: 5000"));
}

TEST_CASE("a setting of Gemma that Hydra does not support is refused with its key") {
  const auto refuses = [](auto* read, const char* key, const json& value, const std::string& why) {
    CHECK_THROWS_WITH(read(file(with(small(), key, value)), from_options{}),
                      Contains("m/config.json: ") && Contains(key) && Contains(why));
  };
  refuses(gemma2_from_config, "hidden_activation", "gelu", "\"gelu\"");
  refuses(gemma2_from_config, "attention_bias", true, "true is not supported");
  refuses(gemma3_from_config, "use_bidirectional_attention", true, "true is not supported");
  refuses(gemma3_from_config, "attn_logit_softcapping", 50.0, "50.0 is not supported");
  refuses(gemma2_from_config, "sliding_window", nullptr, "is null, but layers have a window");
  refuses(gemma3_from_config, "sliding_window_pattern", 0, "0 is not positive");
  const json llama3{{"rope_type", "llama3"}, {"factor", 2.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}};
  refuses(gemma2_from_config, "rope_parameters", llama3, "not llama3");
  refuses(gemma3_from_config, "rope_parameters", {{"sliding_attention", {{"rope_type", "linear"}, {"factor", 2.0}}}},
          "are not scaled");
  CHECK_THROWS_WITH(gemma2_from_config(file(small()), {.dropout = 0.1}), Contains("no dropout"));
}

TEST_CASE("a gemma of options is exported as the architecture that has its norms and caps, and read back unchanged") {
  const gemma_options gemma2{.layers = 3,
                             .width = 8,
                             .heads = 2,
                             .kv_heads = 1,
                             .head_size = 6,
                             .hidden = 12,
                             .context = 32,
                             .vocabulary = 9,
                             .window = 5,
                             .full_layers = {1},
                             .rope_theta = 2000,
                             .rope_factor = 2,
                             .query_scale = 24,
                             .score_cap = 40,
                             .logit_cap = 20,
                             .eps = 1e-4,
                             .tied = false};
  const auto round_trip = [](const gemma_options& o, const std::string& name, auto* read) {
    const chain original = build(gemma(o));
    const json form = json::parse(original.hub().config);
    CHECK(form.at("architectures").at(0) == name);
    const chain again = build(read(file(form), from_options{}));
    for (std::size_t i = 0; i < 5; ++i) CHECK(again.at(i).body->signature() == original.at(i).body->signature());
    CHECK(again.parameters(4)[1].tied_to == original.parameters(4)[1].tied_to);
  };
  round_trip(gemma2, "Gemma2ForCausalLM", gemma2_from_config);
  gemma_options gemma3 = gemma2;
  gemma3.qk_norm = true;
  CHECK(build(gemma(gemma3)).hub().config.empty());  // with caps of scores
  gemma3.score_cap = 0;
  CHECK(build(gemma(gemma3)).hub().config.empty());  // with scaled positions in layers with a window
  gemma3.local_rope_theta = 100;
  round_trip(gemma3, "Gemma3ForCausalLM", gemma3_from_config);
  gemma3.tied = true;
  round_trip(gemma3, "Gemma3ForCausalLM", gemma3_from_config);
  gemma3.qk_norm = false;
  CHECK(build(gemma(gemma3)).hub().config.empty());  // Gemma 2 has one base of positions
}
