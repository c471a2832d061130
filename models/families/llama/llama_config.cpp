#include "models/families/llama/llama_config.hpp"

#include "models/families/decoder_config.hpp"
#include "models/families/rope_config.hpp"
#include "models/families/window_config.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace hydra {
namespace {

using nlohmann::json;

/// What the architectures have in common; biases and norms are added by each.
llama_options common(const model_config& config) {
  config.require("hidden_act", "silu");
  const rope_choice rope = rope_from(config);
  llama_options o = read_decoder<llama_options>(config);
  o.kv_heads = config.integer("num_key_value_heads", o.heads);
  o.head_size = config.integer("head_dim", 0);
  o.padding = padding_from(config, -1);
  o.rope_theta = rope.theta;
  o.scaling = rope.scaling;
  o.eps = config.real("rms_norm_eps", 1e-6);
  o.tied = config.boolean("tie_word_embeddings", false);
  return o;
}

/// transformers has a window of 4096 where the key is absent, and none where it is null.
bool has_qwen_window(const model_config& config) {
  const bool none = config.content().contains("sliding_window") && !config.has("sliding_window");
  return config.boolean("use_sliding_window", false) && !none;
}

/// Qwen's first max_window_layers layers attend to the whole text, unless layer_types says it.
void read_qwen_window(const model_config& config, llama_options& o) {
  const std::int64_t first = config.integer("max_window_layers", 28);
  const bool windowed = has_qwen_window(config);
  const auto full = full_layers_from(config, o.layers, [&](std::int64_t i) { return !windowed || i < first; });
  if (!windowed) config.ignore({"sliding_window"});
  if (std::ssize(full) == o.layers) return;
  if (!windowed)
    config.refuse("layer_types",
                  "has sliding_attention, but use_sliding_window is not true, or sliding_window is null");
  o.window = config.integer("sliding_window", 4096);
  o.full_layers = full;
}

/// The architecture of a chain's biases, norms and windows: {"LlamaForCausalLM", "llama"}.
struct hub_name {
  const char* architecture;
  const char* type;
};

std::optional<hub_name> hub_name_of(const llama_options& o) {
  const bool equal_biases = o.qkv_bias == o.output_bias;
  if (o.qk_norm && equal_biases && !o.mlp_bias) return hub_name{"Qwen3ForCausalLM", "qwen3"};
  if (o.qk_norm) return std::nullopt;
  const bool biased = o.qkv_bias || o.output_bias || o.mlp_bias;
  if (o.window > 0 && o.full_layers.empty() && !biased) return hub_name{"MistralForCausalLM", "mistral"};
  if (o.window == 0 && equal_biases) return hub_name{"LlamaForCausalLM", "llama"};
  if (o.qkv_bias && !o.output_bias && !o.mlp_bias) return hub_name{"Qwen2ForCausalLM", "qwen2"};
  return std::nullopt;
}

/// The keys that only some of the architectures have.
void add_own_keys(json& config, const llama_options& o, std::string_view type) {
  if (type != "llama") config["sliding_window"] = o.window > 0 ? json(o.window) : json(nullptr);
  if (type == "mistral") return;
  if (o.qkv_bias == o.output_bias) config["attention_bias"] = o.qkv_bias;
  if (type == "llama") config["mlp_bias"] = o.mlp_bias;
  if (type == "llama") return;
  config["use_sliding_window"] = o.window > 0;
  config["layer_types"] = layer_types(o.layers, o.window, o.full_layers);
}

}  // namespace

chain_description llama_from_config(const model_config& config, const from_options& options) {
  llama_options o = common(config);
  o.qkv_bias = o.output_bias = config.boolean("attention_bias", false);
  o.mlp_bias = config.boolean("mlp_bias", false);
  return described_as<llama>(config, options, "LlamaForCausalLM", o);
}

chain_description mistral_from_config(const model_config& config, const from_options& options) {
  if (!config.content().contains("sliding_window"))
    config.refuse("sliding_window", "is missing, and transformers then takes 4096; write null for none");
  llama_options o = common(config);
  o.window = config.integer("sliding_window", 0);
  return described_as<llama>(config, options, "MistralForCausalLM", o);
}

chain_description qwen2_from_config(const model_config& config, const from_options& options) {
  llama_options o = common(config);
  config.ignore({"use_mrope"});  // of models that also see
  read_qwen_window(config, o);
  o.qkv_bias = true;
  return described_as<llama>(config, options, "Qwen2ForCausalLM", o);
}

chain_description qwen3_from_config(const model_config& config, const from_options& options) {
  llama_options o = common(config);
  read_qwen_window(config, o);
  if (o.head_size == 0) o.head_size = 128;  // transformers' default, whatever the width
  o.qkv_bias = o.output_bias = config.boolean("attention_bias", false);
  o.qk_norm = true;
  return described_as<llama>(config, options, "Qwen3ForCausalLM", o);
}

hub_form llama_hub_form(const llama_options& o) {
  const auto name = hub_name_of(o);
  if (!name) return {};
  json config = write_decoder(name->architecture, name->type, o);
  config["head_dim"] = o.head_size;
  config["hidden_act"] = "silu";
  add_own_keys(config, o, name->type);
  write_rope(config, {o.rope_theta, o.scaling});
  return {config_text(config), {}};
}

}  // namespace hydra
