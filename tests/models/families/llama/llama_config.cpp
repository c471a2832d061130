#include "models/families/llama/llama_config.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace hydra;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json small() {
  return {
      {"vocab_size", 9},          {"hidden_size", 8},         {"intermediate_size", 12},       {"num_hidden_layers", 2},
      {"num_attention_heads", 2}, {"num_key_value_heads", 1}, {"max_position_embeddings", 32}, {"rms_norm_eps", 1e-6},
      {"hidden_act", "silu"}};
}

json with(json config, const char* key, json value) {
  config[key] = std::move(value);
  return config;
}

model_config file(json config) { return {"m/config.json", std::move(config)}; }

chain build(const chain_description& d) {
  return d.build(*open_data({synthetic_language{.symbols = 9, .tokens = 100, .validation_tokens = 0}}, d.context));
}

std::string block_of(const json& config) { return build(llama_from_config(file(config), {})).at(1).body->signature(); }

}  // namespace

TEST_CASE("a llama is read with its sizes, and a context of all its positions") {
  const chain_description d = llama_from_config(file(small()), {});
  CHECK(d.family == "llama");
  CHECK(d.context == 32);
  CHECK_THAT(build(d).at(1).body->signature(), Contains("width=8 heads=2 kv_heads=1 head_size=4 hidden=12"));
  CHECK(llama_from_config(file(small()), {.context = 16}).context == 16);
  CHECK_THROWS_WITH(llama_from_config(file(small()), {.context = 33}),
                    Contains("m/config.json: max_position_embeddings") && Contains("33 tokens do not fit"));
}

TEST_CASE("rotary positions are read from the keys of transformers 5 and of earlier versions") {
  const json scaling{
      {"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 16}};
  json now = scaling;
  now.update({{"rope_type", "llama3"}, {"rope_theta", 500000.0}});
  const json old = with(with(small(), "rope_theta", 500000.0), "rope_scaling", with(scaling, "type", "llama3"));
  CHECK(block_of(with(small(), "rope_parameters", now)) == block_of(old));
  CHECK_THAT(block_of(old), Contains("theta=500000 scaling=llama3 8 1 4 16"));
}

TEST_CASE("two keys for rotary positions have to say the same") {
  const json linear{{"rope_type", "linear"}, {"factor", 4.0}};
  const json both = with(with(small(), "rope_parameters", linear), "rope_scaling", linear);
  CHECK(block_of(both) == block_of(with(small(), "rope_scaling", linear)));
  for (const json& now : {json{{"rope_type", "default"}}, json{{"rope_type", "linear"}, {"factor", 2.0}}})
    CHECK_THROWS_WITH(llama_from_config(file(with(both, "rope_parameters", now)), {}),
                      Contains("m/config.json: rope_scaling: says something else than rope_parameters"));
  const json based = with(both, "rope_parameters", with(linear, "rope_theta", 500.0));
  CHECK_THROWS_WITH(llama_from_config(file(based), {}),
                    Contains("m/config.json: rope_scaling: rope_theta is 10000 with it and 500 in rope_parameters"));
  CHECK_THAT(block_of(with(based, "rope_theta", 500.0)), Contains("theta=500 "));
}

TEST_CASE("a base of rotary positions beside that of their table has to be the same") {
  const json table{{"rope_type", "linear"}, {"factor", 4.0}, {"rope_theta", 500.0}};
  for (const char* const key : {"rope_parameters", "rope_scaling"}) {
    const json config = with(small(), key, table);
    CHECK_THROWS_WITH(
        llama_from_config(file(with(config, "rope_theta", 10000.0)), {}),
        Contains(std::string{"m/config.json: "} + key + ".rope_theta: 500 contradicts rope_theta = 10000"));
    CHECK_THAT(block_of(with(config, "rope_theta", 500)), Contains("theta=500 "));
  }
}

TEST_CASE("the embedding does not train the vector of config.json's padding") {
  const auto embedding_of = [](const json& id) {
    return build(llama_from_config(file(with(small(), "pad_token_id", id)), {})).at(0).body->signature();
  };
  CHECK_THAT(embedding_of(3), Contains(" padding=3"));
  CHECK_THAT(embedding_of(-1), Contains(" padding=8"));
  CHECK_THAT(embedding_of(nullptr), !Contains("padding"));
  CHECK_THROWS_WITH(embedding_of(9), Contains("m/config.json: pad_token_id: 9 is not in the vocabulary of 9 tokens"));
}

TEST_CASE("rotary positions that Hydra does not know are refused by name") {
  const json yarn = with(small(), "rope_scaling", {{"rope_type", "yarn"}, {"factor", 2.0}});
  CHECK_THROWS_WITH(llama_from_config(file(yarn), {}),
                    Contains("m/config.json: rope_scaling.rope_type") && Contains("\"yarn\"") && Contains("llama3"));
  CHECK_THROWS_WITH(llama_from_config(file(with(small(), "partial_rotary_factor", 0.5)), {}),
                    Contains("partial_rotary_factor: 0.5"));
}

TEST_CASE("a setting of llama that changes results and that Hydra does not support is refused with its key") {
  CHECK_THROWS_WITH(llama_from_config(file(with(small(), "hidden_act", "gelu")), {}), Contains("hidden_act: \"gelu\""));
  CHECK_THROWS_WITH(llama_from_config(file(small()), {.dropout = 0.1}), Contains("no dropout"));
}

TEST_CASE("all layers of Mistral have the window, and of Qwen those that config.json says") {
  const auto windows = [](const chain_description& d) {
    const chain c = build(d);
    std::string all;
    for (std::size_t i = 1; i <= 2; ++i)
      all += c.at(i).body->signature().find("window=16 ") == std::string::npos ? "full " : "16 ";
    return all;
  };
  const json windowed = with(small(), "sliding_window", 16), used = with(windowed, "use_sliding_window", true);
  const json listed = with(used, "layer_types", {"sliding_attention", "full_attention"});
  CHECK(windows(mistral_from_config(file(windowed), {})) == "16 16 ");
  CHECK(windows(mistral_from_config(file(with(small(), "sliding_window", nullptr)), {})) == "full full ");
  CHECK(windows(qwen2_from_config(file(windowed), {})) == "full full ");
  CHECK(windows(qwen2_from_config(file(used), {})) == "full full ");  // max_window_layers is 28
  CHECK(windows(qwen2_from_config(file(with(used, "max_window_layers", 1)), {})) == "full 16 ");
  CHECK(windows(qwen2_from_config(file(with(with(used, "max_window_layers", 0), "sliding_window", nullptr)), {})) ==
        "full full ");
  CHECK(windows(qwen3_from_config(file(listed), {})) == "16 full ");
}

TEST_CASE("windows that contradict themselves are refused with their key") {
  CHECK_THROWS_WITH(mistral_from_config(file(small()), {}), Contains("sliding_window: is missing"));
  CHECK_THROWS_WITH(mistral_from_config(file(with(small(), "sliding_window", -1)), {}), Contains("window is -1"));
  const auto refuses = [](const json& kinds, const std::string& why) {
    CHECK_THROWS_WITH(qwen2_from_config(file(with(with(small(), "layer_types", kinds), "sliding_window", 16)), {}),
                      Contains("layer_types: ") && Contains(why));
  };
  refuses({"sliding_attention", "full_attention"}, "use_sliding_window is not true");
  refuses({"full_attention"}, "each of 2 layers");
  const json listed =
      with(with(small(), "use_sliding_window", true), "layer_types", {"sliding_attention", "full_attention"});
  CHECK_THROWS_WITH(qwen3_from_config(file(with(listed, "sliding_window", nullptr)), {}),
                    Contains("sliding_window is null"));
  refuses({"full_attention", "chunked_attention"}, "\"chunked_attention\"");
  const json endless = with(with(small(), "use_sliding_window", true), "num_hidden_layers", 1'000'000'000'000);
  CHECK_THROWS_WITH(qwen2_from_config(file(endless), {}), Contains("num_hidden_layers"));
}

TEST_CASE("Qwen 2 has biases of queries, keys and values, Qwen 3 norms of queries and keys") {
  CHECK_THAT(build(qwen2_from_config(file(small()), {})).at(1).body->signature(),
             Contains("qkv_bias=true output_bias=false") && Contains("qk_norm=false"));
  CHECK_THAT(build(qwen3_from_config(file(small()), {})).at(1).body->signature(),
             Contains("head_size=128") && Contains("qkv_bias=false output_bias=false") && Contains("qk_norm=true"));
}

TEST_CASE("a chain that was read is exported with the config that was read") {
  const json config = with(with(small(), "eos_token_id", 5), "torch_dtype", "bfloat16");
  const json form = json::parse(build(llama_from_config(file(config), {})).hub().config);
  CHECK(form.at("eos_token_id") == 5);
  CHECK(form.at("dtype") == "float32");
  CHECK_FALSE(form.contains("torch_dtype"));
}

TEST_CASE("an export has no dropout where the model was trained without that of its config") {
  const json config = with(small(), "attention_dropout", 0.1);
  CHECK_THROWS_WITH(llama_from_config(file(config), {}), Contains("attention_dropout: 0.1, but"));
  CHECK(json::parse(build(llama_from_config(file(config), {.dropout = 0})).hub().config).at("attention_dropout") ==
        0.0);
  CHECK_FALSE(json::parse(build(llama_from_config(file(small()), {})).hub().config).contains("attention_dropout"));
}

TEST_CASE(
    "a chain of options is exported as the architecture that has its biases and norms, and read back unchanged") {
  const auto options = [](bool qkv, bool output, bool mlp, bool norm) {
    return llama_options{.layers = 2,
                         .width = 8,
                         .heads = 2,
                         .kv_heads = 1,
                         .head_size = 6,
                         .hidden = 12,
                         .context = 32,
                         .vocabulary = 9,
                         .rope_theta = 2000,
                         .scaling = {.how = rope_scaling::kind::linear, .factor = 2},
                         .eps = 1e-4,
                         .tied = true,
                         .qkv_bias = qkv,
                         .output_bias = output,
                         .mlp_bias = mlp,
                         .qk_norm = norm};
  };
  const auto round_trip = [&](const llama_options& o, const std::string& name, auto* read) {
    const chain original = build(llama(o));
    const json form = json::parse(original.hub().config);
    CHECK(form.at("architectures").at(0) == name);
    const chain again = build(read(file(form), {}));
    for (std::size_t i = 0; i < 4; ++i) CHECK(again.at(i).body->signature() == original.at(i).body->signature());
    CHECK(again.parameters(3)[1].tied_to == original.parameters(3)[1].tied_to);
  };
  round_trip(options(false, false, false, false), "LlamaForCausalLM", llama_from_config);
  round_trip(options(true, true, true, false), "LlamaForCausalLM", llama_from_config);
  round_trip(options(true, false, false, false), "Qwen2ForCausalLM", qwen2_from_config);
  round_trip(options(false, false, false, true), "Qwen3ForCausalLM", qwen3_from_config);
  CHECK(build(llama(options(true, false, true, false))).hub().config.empty());
  llama_options windowed = options(false, false, false, false);
  windowed.window = 16;
  round_trip(windowed, "MistralForCausalLM", mistral_from_config);
  windowed.full_layers = {1};
  CHECK(build(llama(windowed)).hub().config.empty());
  windowed.qk_norm = true;
  round_trip(windowed, "Qwen3ForCausalLM", qwen3_from_config);
  windowed = options(true, false, false, false);
  windowed.window = 16;
  round_trip(windowed, "Qwen2ForCausalLM", qwen2_from_config);
}
