#include "models/families/gpt2/gpt2_config.hpp"

#include "models/families/config_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra {
namespace {

void require_known(const model_config& config) {
  config.require("scale_attn_weights", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require("reorder_and_upcast_attn", false);
  config.require("add_cross_attention", false);
  if (config.text("activation_function", "gelu_new") != "gelu_pytorch_tanh")  // another name of the same function
    config.require("activation_function", "gelu_new");
  config.require("n_inner", 4 * config.integer("n_embd", 768));
}

double dropout_from(const model_config& config, const from_options& options) {
  config.ignore({"attn_pdrop", "embd_pdrop", "resid_pdrop"});  // also where `options` has another
  if (options.dropout >= 0) return options.dropout;
  const double embeddings = config.real("embd_pdrop", 0.1), residual = config.real("resid_pdrop", 0.1);
  if (embeddings != residual)
    config.refuse("embd_pdrop",
                  fmt::format("{} differs from resid_pdrop, {}; Hydra has one dropout for both: choose it with dropout",
                              embeddings, residual));
  return embeddings;
}

}  // namespace

chain_description gpt2_from_config(const model_config& config, const from_options& options) {
  require_known(config);
  require_own_head(config, options);
  const double dropout = dropout_from(config, options);
  const double attention_dropout = options.dropout >= 0 ? options.dropout : config.real("attn_pdrop", 0.1);
  const std::int64_t positions = config.integer("n_positions", 1024);
  chain_description result = gpt2({.layers = config.integer("n_layer", 12),
                                   .width = config.integer("n_embd", 768),
                                   .heads = config.integer("n_head", 12),
                                   .context = positions,
                                   .vocabulary = config.integer("vocab_size", 50257),
                                   .dropout = dropout,
                                   .attention_dropout = attention_dropout,
                                   .eps = config.real("layer_norm_epsilon", 1e-5),
                                   .tied = config.boolean("tie_word_embeddings", true)});
  result.context = context_from(config, options, "n_positions", positions);
  nlohmann::json text = published(config, "GPT2LMHeadModel");
  text["embd_pdrop"] = text["resid_pdrop"] = dropout;
  text["attn_pdrop"] = attention_dropout;
  return publishing(std::move(result), std::move(text));
}

hub_form gpt2_hub_form(const gpt2_options& o) {
  const nlohmann::json config{{"architectures", {"GPT2LMHeadModel"}},
                              {"model_type", "gpt2"},
                              {"dtype", "float32"},
                              {"activation_function", "gelu_new"},
                              {"attn_pdrop", o.attention_dropout},
                              {"bos_token_id", nullptr},
                              {"embd_pdrop", o.dropout},
                              {"eos_token_id", nullptr},
                              {"initializer_range", 0.02},
                              {"layer_norm_epsilon", o.eps},
                              {"n_ctx", o.context},
                              {"n_embd", o.width},
                              {"n_head", o.heads},
                              {"n_inner", nullptr},
                              {"n_layer", o.layers},
                              {"n_positions", o.context},
                              {"resid_pdrop", o.dropout},
                              {"tie_word_embeddings", o.tied},
                              {"vocab_size", o.vocabulary}};
  return {config_text(config),
          [](const std::string& name) { return name == "lm_head.weight" ? name : "transformer." + name; }};
}

}  // namespace hydra
