#include "models/families/phi3/phi3_config.hpp"

#include "models/families/decoder_config.hpp"
#include "models/families/rope_config.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hydra {
namespace {

using nlohmann::json;

constexpr const char* positions = "max_position_embeddings";
constexpr std::initializer_list<const char*> dropout_keys{"attention_dropout", "embd_pdrop", "resid_pdrop"};
constexpr std::int64_t default_original = 4096;

std::int64_t head_size_of(const model_config& config) {
  const std::int64_t heads = config.integer("num_attention_heads");
  if (heads < 1) config.refuse("num_attention_heads", fmt::format("{} is not positive", heads));
  return config.integer("head_dim", config.integer("hidden_size") / heads);
}

/// The table of rotary positions, of transformers 5 or of earlier versions; config itself if there is none.
model_config rope_table(const model_config& config) {
  if (const auto old = config.table("rope_scaling")) return *old;
  return config.table("rope_parameters").value_or(config);
}

/// As transformers has it where the config has no attention_factor.
double usual_magnitude(double factor, std::int64_t original) {
  return factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(original)));
}

rope_scaling longrope_from(const model_config& config, const model_config& table, const phi3_options& o) {
  const std::int64_t original = config.integer("original_max_position_embeddings", default_original);
  if (original < 2) config.refuse("original_max_position_embeddings", fmt::format("{} is below 2", original));
  const char* const key = o.context > original ? "long_factor" : "short_factor";
  const auto longest = static_cast<double>(config.integer(positions));
  const double factor = table.real("factor", longest / static_cast<double>(original));
  rope_scaling scaling{.how = rope_scaling::kind::longrope,
                       .factors = table.reals(key),
                       .magnitude = table.real("attention_factor", usual_magnitude(factor, original))};
  if (std::ssize(scaling.factors) != o.rotated / 2)
    table.refuse(key, fmt::format("has {} factors; {} features of a head are rotated, which needs {}",
                                  scaling.factors.size(), o.rotated, o.rotated / 2));
  return scaling;
}

/// "su" and "yarn" are old names of longrope in Phi-3's files.
void read_positions(const model_config& config, phi3_options& o) {
  const model_config table = rope_table(config);
  const double share = table.real("partial_rotary_factor", config.real("partial_rotary_factor", 1));
  if (!(share > 0 && share <= 1)) table.refuse("partial_rotary_factor", fmt::format("{} is not in (0, 1]", share));
  o.rotated = static_cast<std::int64_t>(static_cast<double>(o.head_size) * share);
  require_same_base(config, "rope_theta", table);
  o.rope_theta = table.real("rope_theta", config.real("rope_theta", 10000));
  const char* const key = table.has("rope_type") ? "rope_type" : "type";
  const std::string kind = table.text(key, "default");
  if (kind == "longrope" || kind == "su" || kind == "yarn")
    o.scaling = longrope_from(config, table, o);
  else if (kind != "default")
    table.refuse(key,
                 fmt::format("Phi-3 has no rotary positions \"{}\"; Hydra knows default and longrope", shown(kind)));
}

}  // namespace

chain_description phi3_from_config(const model_config& config, const from_options& options) {
  require_own_head(config, options);
  require_no_dropout(config, options, dropout_keys);
  config.require("hidden_act", "silu");
  phi3_options o = read_decoder<phi3_options>(config);
  o.kv_heads = config.integer("num_key_value_heads", o.heads);
  o.head_size = head_size_of(config);
  o.context = context_from(config, options, positions, o.context);
  o.padding = padding_from(config, phi3_padding);
  o.window = config.integer("sliding_window", 0);
  o.eps = config.real("rms_norm_eps", 1e-5);
  o.tied = config.boolean("tie_word_embeddings", false);
  config.ignore({"original_max_position_embeddings"});  // of longrope only
  read_positions(config, o);
  return publishing(phi3(o), published(config, "Phi3ForCausalLM", dropout_keys));
}

hub_form phi3_hub_form(const phi3_options& o) {
  if (o.scaling.how != rope_scaling::kind::none || o.head_size * o.heads != o.width) return {};
  const double share = o.rotated > 0 ? static_cast<double>(o.rotated) / static_cast<double>(o.head_size) : 1;
  json config = write_decoder("Phi3ForCausalLM", "phi3", o);
  config.update({{"embd_pdrop", 0.0},
                 {"hidden_act", "silu"},
                 {"original_max_position_embeddings", o.context},
                 {"partial_rotary_factor", share},
                 {"resid_pdrop", 0.0},
                 {"rope_parameters",
                  {{"rope_type", "default"}, {"rope_theta", o.rope_theta}, {"partial_rotary_factor", share}}},
                 {"rope_scaling", nullptr},
                 {"rope_theta", o.rope_theta},
                 {"sliding_window", o.window > 0 ? json(o.window) : json(nullptr)}});
  return {config_text(config), {}};
}

}  // namespace hydra
