#include "models/families/phi3/phi3.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/phi3/phi3_config.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace hydra;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json small() {
  return {{"vocab_size", 9},
          {"hidden_size", 16},
          {"intermediate_size", 12},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 2},
          {"num_key_value_heads", 1},
          {"max_position_embeddings", 64},
          {"original_max_position_embeddings", 16},
          {"hidden_act", "silu"}};
}

json with(json config, const char* key, json value) {
  config[key] = std::move(value);
  return config;
}

const json factors{{"type", "su"}, {"short_factor", {1.0, 1.5, 2.0, 2.5}}, {"long_factor", {1.0, 3.0, 9.0, 27.0}}};

model_config file(json config) { return {"m/config.json", std::move(config)}; }

chain build(const chain_description& d) {
  return d.build(*open_data({synthetic_language{.symbols = 9, .tokens = 10000, .validation_tokens = 0}}, d.context));
}

std::string block_of(const json& config, std::int64_t context = 0) {
  return build(phi3_from_config(file(config), {.context = context})).at(1).body->signature();
}

}  // namespace

TEST_CASE("phi3 at Microsoft's sizes has Microsoft's number of parameters") {
  const phi3_options mini{
      .layers = 32, .width = 3072, .heads = 32, .hidden = 8192, .context = 4096, .vocabulary = 32064, .window = 2047};
  CHECK(build(phi3(mini)).parameter_count() == 3821079552);
}

TEST_CASE("phi3 keeps its fused projections, under Hugging Face's names") {
  const chain model = build(phi3_from_config(file(small()), {}));
  std::vector<std::string> names;
  for (const parameter_spec& p : model.parameters(1)) names.push_back(p.name.substr(15));
  CHECK(names == std::vector<std::string>{"input_layernorm.weight", "self_attn.qkv_proj.weight",
                                          "self_attn.o_proj.weight", "post_attention_layernorm.weight",
                                          "mlp.gate_up_proj.weight", "mlp.down_proj.weight"});
  CHECK(model.parameters(1)[1].shape == std::vector<std::int64_t>{32, 16});
}

TEST_CASE("the context decides which factors of longrope are used") {
  const std::string magnitude = fmt::format("{}", std::sqrt(1 + std::log(4.0) / std::log(16.0)));
  const json config = with(small(), "rope_scaling", factors);
  CHECK_THAT(block_of(config, 16), Contains("scaling=longrope") && Contains("factors=1,1.5,2,2.5 " + magnitude));
  CHECK_THAT(block_of(config, 17), Contains("factors=1,3,9,27 " + magnitude));
  CHECK_THAT(block_of(config), Contains("factors=1,3,9,27 "));
  CHECK_THAT(block_of(with(small(), "rope_scaling", with(factors, "attention_factor", 1.25)), 16),
             Contains("factors=1,1.5,2,2.5 1.25 "));
}

TEST_CASE("a part of a head's features is rotated, by the keys of transformers 5 and of earlier versions") {
  CHECK_THAT(block_of(with(small(), "partial_rotary_factor", 0.75)), Contains("theta=10000") && Contains("rotated=6"));
  const json table{{"rope_type", "default"}, {"rope_theta", 50.0}, {"partial_rotary_factor", 0.5}};
  CHECK_THAT(block_of(with(small(), "rope_parameters", table)), Contains("theta=50 ") && Contains("rotated=4"));
  CHECK_THROWS_WITH(block_of(with(with(small(), "rope_parameters", table), "rope_theta", 60.0)),
                    Contains("rope_parameters.rope_theta: 50 contradicts rope_theta = 60"));
}

TEST_CASE("a setting of Phi-3 that Hydra does not support is refused with its key") {
  const auto refuses = [](const char* key, const json& value, const std::string& why) {
    CHECK_THROWS_WITH(phi3_from_config(file(with(small(), key, value)), {}),
                      Contains("m/config.json: ") && Contains(key) && Contains(why));
  };
  refuses("hidden_act", "gelu", "\"gelu\"");
  refuses("resid_pdrop", 0.1, "0.1, but models of this kind have no dropout");
  refuses("partial_rotary_factor", 1.5, "1.5 is not in (0, 1]");
  refuses("rope_scaling", {{"type", "linear"}, {"factor", 2.0}}, "longrope");
  refuses("rope_scaling", with(factors, "long_factor", {1.0}), "1 factors");
  refuses("rope_scaling", with(factors, "long_factor", "x"), "list of numbers");
  CHECK_THROWS_WITH(
      phi3_from_config(file(with(with(small(), "rope_scaling", factors), "original_max_position_embeddings", 1)), {}),
      Contains("1 is below 2"));
}

TEST_CASE("a phi3 of options is exported, and read back unchanged") {
  phi3_options o{.layers = 2,
                 .width = 16,
                 .heads = 2,
                 .kv_heads = 1,
                 .hidden = 12,
                 .context = 32,
                 .vocabulary = 9,
                 .window = 5,
                 .rotated = 6,
                 .rope_theta = 2000,
                 .eps = 1e-4,
                 .tied = true};
  const chain original = build(phi3(o));
  const chain again = build(phi3_from_config(file(json::parse(original.hub().config)), {}));
  for (std::size_t i = 0; i < 4; ++i) CHECK(again.at(i).body->signature() == original.at(i).body->signature());
  CHECK(again.parameters(3)[1].tied_to == original.parameters(3)[1].tied_to);
  o.head_size = 6;
  CHECK(build(phi3(o)).hub().config.empty());
}
