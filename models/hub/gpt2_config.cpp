#include "models/hub/gpt2_config.hpp"

#include "models/gpt2.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

std::int64_t context_of(const model_config& config, const from_options& options) {
  const std::int64_t most = config.integer("n_positions", 1024);
  if (options.context > most)
    config.refuse("n_positions", fmt::format("is {}; a context of {} does not fit", most, options.context));
  return options.context == 0 ? most : options.context;
}

/// Hydra's dropout is one rate for all three places.
double dropout_of(const model_config& config, const from_options& options) {
  const double rate = config.real("resid_pdrop", 0.1);
  if (options.dropout >= 0) return options.dropout;
  if (config.real("embd_pdrop", 0.1) != rate)
    config.refuse("embd_pdrop", "differs from resid_pdrop; choose one rate with dropout = ...");
  return rate;
}

void check(const model_config& config, const from_options& options) {
  config.require("activation_function", "gelu_new");
  config.require("layer_norm_epsilon", 1e-5);
  config.require("scale_attn_weights", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require("reorder_and_upcast_attn", false);
  config.require("add_cross_attention", false);
  if (config.has("n_inner")) config.require("n_inner", 4 * config.integer("n_embd", 768));
  if (!options.head.empty()) config.refuse("architectures", "GPT-2 has one head; leave out head = ...");
}

std::string stored_name(const std::string& name) { return name.starts_with("lm_head.") ? name : "transformer." + name; }

std::string published(nlohmann::json config) {
  config["architectures"] = {"GPT2LMHeadModel"};
  for (const char* const key : {"torch_dtype", "dtype"})
    if (config.contains(key)) config[key] = "float32";
  return config.dump(2) + "\n";
}

}  // namespace

chain_description gpt2_from_config(const model_config& config, const from_options& options) {
  check(config, options);
  const bool tied = config.boolean("tie_word_embeddings", true);
  chain_description description = gpt2({.layers = config.integer("n_layer", 12),
                                        .width = config.integer("n_embd", 768),
                                        .heads = config.integer("n_head", 12),
                                        .context = config.integer("n_positions", 1024),
                                        .vocabulary = config.integer("vocab_size", 50257),
                                        .dropout = dropout_of(config, options),
                                        .tied = tied});
  description.context = context_of(config, options);
  const hub_form form{published(config.content()), stored_name};
  description.build = [build = std::move(description.build), form](const data_source& data) {
    return build(data).publish_as(form);
  };
  return description;
}

}  // namespace hydra
