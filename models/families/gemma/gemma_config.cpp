#include "models/families/gemma/gemma_config.hpp"

#include "models/families/decoder_config.hpp"
#include "models/families/rope_config.hpp"
#include "models/families/window_config.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

using nlohmann::json;

constexpr double default_cap[] = {50, 30};  ///< of Gemma 2's scores and logits, where config.json has no key for them
constexpr double local_theta = 10'000, global_theta = 1'000'000;  // Gemma 3's

/// A key that may be null for none, unlike one that is absent.
double real_or_none(const model_config& config, const char* key, double if_absent) {
  return config.content().contains(key) ? config.real(key, 0) : if_absent;
}

double stretch_of(const model_config& config, const char* key, const rope_scaling& scaling) {
  if (scaling.how == rope_scaling::kind::none) return 1;
  if (scaling.how != rope_scaling::kind::linear)
    config.refuse(key,
                  fmt::format("Gemma's positions are scaled by default or linear, not {}", to_string(scaling.how)));
  return scaling.factor;
}

/// What both have in common, without positions. Layer i has a window unless pattern divides i + 1.
gemma_options common(const model_config& config, std::int64_t pattern) {
  config.require("hidden_activation", "gelu_pytorch_tanh");
  config.ignore({"hidden_act", "_sliding_window_pattern"});  // transformers does not read them
  config.require("attention_bias", false);
  config.require("use_bidirectional_attention", false);
  if (pattern < 1) config.refuse("sliding_window_pattern", fmt::format("{} is not positive", pattern));
  gemma_options o = read_decoder<gemma_options>(config);
  o.kv_heads = config.integer("num_key_value_heads");
  o.head_size = config.integer("head_dim", 256);
  o.padding = padding_from(config, 0);
  o.query_scale = config.real("query_pre_attn_scalar", 256);
  o.eps = config.real("rms_norm_eps", 1e-6);
  o.tied = config.boolean("tie_word_embeddings", true);
  const auto full = full_layers_from(config, o.layers, [&](std::int64_t i) { return (i + 1) % pattern == 0; });
  if (std::ssize(full) == o.layers) return o;
  if (config.content().contains("sliding_window") && !config.has("sliding_window"))
    config.refuse("sliding_window", "is null, but layers have a window; write its size");
  o.window = config.integer("sliding_window", 4096);
  o.full_layers = full;
  return o;
}

/// From rope_parameters with a table for each kind of layer (transformers 5), or from rope_scaling; rope_theta and
/// rope_local_base_freq where a table has no base.
void read_gemma3_positions(const model_config& config, gemma_options& o) {
  o.rope_theta = config.real("rope_theta", global_theta);
  o.local_rope_theta = config.real("rope_local_base_freq", local_theta);
  if (const auto both = config.table("rope_parameters")) {
    const auto full = both->table("full_attention"), sliding = both->table("sliding_attention");
    if (full) require_same_base(config, "rope_theta", *full);
    if (sliding) require_same_base(config, "rope_local_base_freq", *sliding);
    const rope_choice global = full ? rope_in(*full, o.rope_theta, o.context) : rope_choice{o.rope_theta, {}};
    const rope_choice local =
        sliding ? rope_in(*sliding, o.local_rope_theta, o.context) : rope_choice{o.local_rope_theta, {}};
    if (local.scaling.how != rope_scaling::kind::none)
      sliding->refuse("rope_type", "Gemma's positions in layers with a window are not scaled");
    o.rope_factor = stretch_of(*both, "full_attention", global.scaling);
    o.rope_theta = global.theta;
    o.local_rope_theta = local.theta;
    if (const auto before = config.table("rope_scaling"))
      require_same_rope(config, global, rope_in(*before, global.theta, o.context));
    return;
  }
  if (const auto scaling = config.table("rope_scaling")) {
    require_same_base(config, "rope_theta", *scaling);
    const rope_choice global = rope_in(*scaling, o.rope_theta, o.context);
    o.rope_factor = stretch_of(config, "rope_scaling", global.scaling);
    o.rope_theta = global.theta;
  }
}

void write_gemma3_positions(json& config, const gemma_options& o) {
  const double local = o.local_rope_theta > 0 ? o.local_rope_theta : o.rope_theta;
  json global{{"rope_type", "default"}};
  if (o.rope_factor != 1) global = {{"rope_type", "linear"}, {"factor", o.rope_factor}};
  config["rope_theta"] = o.rope_theta;
  config["rope_local_base_freq"] = local;
  config["rope_scaling"] = o.rope_factor == 1 ? json(nullptr) : global;
  global["rope_theta"] = o.rope_theta;
  config["rope_parameters"] = {{"full_attention", global},
                               {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", local}}}};
}

json cap_of(double cap) { return cap > 0 ? json(cap) : json(nullptr); }

/// Neither caps of scores beside qk_norm nor positions of their own without it.
bool has_hub_form(const gemma_options& o) {
  const bool integer_scale = o.query_scale == static_cast<double>(static_cast<std::int64_t>(o.query_scale));
  const bool local_positions = o.window > 0 && o.local_rope_theta > 0 && o.local_rope_theta != o.rope_theta;
  const bool stretched_windows = o.window > 0 && o.local_rope_theta == 0 && o.rope_factor != 1;
  return integer_scale && (o.qk_norm ? o.score_cap == 0 && !stretched_windows : !local_positions);
}

}  // namespace

chain_description gemma2_from_config(const model_config& config, const from_options& options) {
  gemma_options o = common(config, 2);
  const rope_choice rope = rope_from(config);
  o.rope_theta = rope.theta;
  o.rope_factor = stretch_of(config, "rope_parameters", rope.scaling);
  o.score_cap = real_or_none(config, "attn_logit_softcapping", default_cap[0]);
  o.logit_cap = real_or_none(config, "final_logit_softcapping", default_cap[1]);
  return described_as<gemma>(config, options, "Gemma2ForCausalLM", o);
}

chain_description gemma3_from_config(const model_config& config, const from_options& options) {
  config.require("attn_logit_softcapping", nullptr);
  gemma_options o = common(config, config.integer("sliding_window_pattern", 6));
  read_gemma3_positions(config, o);
  o.logit_cap = config.real("final_logit_softcapping", 0);
  o.qk_norm = true;
  return described_as<gemma>(config, options, "Gemma3ForCausalLM", o);
}

hub_form gemma_hub_form(const gemma_options& o) {
  if (!has_hub_form(o)) return {};
  const double scale = o.query_scale > 0 ? o.query_scale : static_cast<double>(o.head_size);
  json config = o.qk_norm ? write_decoder("Gemma3ForCausalLM", "gemma3_text", o)
                          : write_decoder("Gemma2ForCausalLM", "gemma2", o);
  config.update({{"attention_bias", false},
                 {"attn_logit_softcapping", cap_of(o.score_cap)},
                 {"final_logit_softcapping", cap_of(o.logit_cap)},
                 {"head_dim", o.head_size},
                 {"hidden_activation", "gelu_pytorch_tanh"},
                 {"layer_types", layer_types(o.layers, o.window, o.full_layers)},
                 {"query_pre_attn_scalar", static_cast<std::int64_t>(scale)},
                 {"sliding_window", o.window > 0 ? o.window : 4096}});
  if (o.qk_norm)
    write_gemma3_positions(config, o);
  else
    write_rope(config, {o.rope_theta,
                        {.how = o.rope_factor == 1 ? rope_scaling::kind::none : rope_scaling::kind::linear,
                         .factor = o.rope_factor}});
  return {config_text(config), {}};
}

}  // namespace hydra
