#include "models/families/gpt2/gpt2_config.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace hydra;
using Catch::Matchers::Contains;

namespace gpt2_config_test {

using nlohmann::json;

json small() {
  return {{"vocab_size", 9},   {"n_embd", 8},       {"n_layer", 2},      {"n_head", 2},
          {"n_positions", 32}, {"embd_pdrop", 0.1}, {"resid_pdrop", 0.1}};
}

json with(json config, const char* key, json value) {
  config[key] = std::move(value);
  return config;
}

model_config file(json config) { return {"m/config.json", std::move(config)}; }

chain build(const chain_description& d) {
  return d.build(*open_data({synthetic_language{.symbols = 9, .tokens = 100, .validation_tokens = 0}}, d.context));
}

TEST_CASE("a GPT-2 is read with its sizes; a shorter context keeps all its positions") {
  const chain_description d = gpt2_from_config(file(with(small(), "layer_norm_epsilon", 1e-6)), {.context = 16});
  CHECK(d.context == 16);
  const chain model = build(d);
  CHECK(model.parameters(0)[1].shape == std::vector<std::int64_t>{32, 8});
  CHECK(model.at(1).body->signature() ==
        "transformer block width=8 heads=2 dropout=0.1 attention_dropout=0.1 eps=1e-06");
  CHECK(model.parameters(3)[2].tied_to == "wte.weight");
}

TEST_CASE("GPT-2's two dropouts must be equal, or replaced by the user's") {
  const json config = with(small(), "embd_pdrop", 0.2);
  CHECK_THROWS_WITH(gpt2_from_config(file(config), {}),
                    Contains("m/config.json: embd_pdrop: 0.2") && Contains("differs from resid_pdrop, 0.1"));
  const chain model = build(gpt2_from_config(file(config), {.dropout = 0}));
  CHECK(json::parse(model.hub().config).at("embd_pdrop") == 0);
}

TEST_CASE("a setting of GPT-2 that changes results and that Hydra does not support is refused with its key") {
  const auto refuses = [](const char* key, json value) {
    CHECK_THROWS_WITH(gpt2_from_config(file(with(small(), key, value)), {}), Contains(key));
  };
  refuses("activation_function", "relu");
  refuses("scale_attn_by_inverse_layer_idx", true);
  refuses("scale_attn_weights", false);
  refuses("n_inner", 16);
  CHECK_NOTHROW(gpt2_from_config(file(with(small(), "n_inner", 32)), {}));
}

TEST_CASE("a chain of gpt2 options is exported under Hugging Face's names and read back unchanged") {
  const gpt2_options options{
      .layers = 2, .width = 8, .heads = 2, .context = 32, .vocabulary = 9, .dropout = 0.2, .eps = 1e-6, .tied = false};
  const chain original = build(gpt2(options));
  CHECK(original.hub().stored_name("h.0.ln_1.weight") == "transformer.h.0.ln_1.weight");
  CHECK(original.hub().stored_name("lm_head.weight") == "lm_head.weight");
  const chain again = build(gpt2_from_config(file(json::parse(original.hub().config)), {}));
  for (std::size_t i = 0; i < 4; ++i) CHECK(again.at(i).body->signature() == original.at(i).body->signature());
  CHECK(again.parameters(3)[2].tied_to.empty());
}

}  // namespace gpt2_config_test
