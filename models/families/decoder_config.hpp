#pragma once
// The keys of config.json that the families of decoders have in common.

#include "models/families/config_text.hpp"

#include <nlohmann/json.hpp>

namespace hydra {

/// Options of the keys that every such file has.
template <class Options>
Options read_decoder(const model_config& config) {
  Options o;
  o.layers = config.integer("num_hidden_layers");
  o.width = config.integer("hidden_size");
  o.heads = config.integer("num_attention_heads");
  o.hidden = config.integer("intermediate_size");
  o.context = config.integer("max_position_embeddings");
  o.vocabulary = config.integer("vocab_size");
  return o;
}

/// What `Describe` makes of the options that were read. Throws as the functions of config_text.hpp do.
template <auto Describe, class Options>
chain_description described_as(const model_config& config, const from_options& options, const char* architecture,
                               Options o) {
  require_own_head(config, options);
  require_no_dropout(config, options, {"attention_dropout"});
  o.context = context_from(config, options, "max_position_embeddings", o.context);
  return publishing(Describe(o), published(config, architecture, {"attention_dropout"}));
}

/// Of completed options with a known vocabulary.
template <class Options>
nlohmann::json write_decoder(const char* architecture, const char* type, const Options& o) {
  return {{"architectures", {architecture}},
          {"model_type", type},
          {"dtype", "float32"},
          {"attention_dropout", 0.0},
          {"bos_token_id", nullptr},
          {"eos_token_id", nullptr},
          {"hidden_size", o.width},
          {"initializer_range", 0.02},
          {"intermediate_size", o.hidden},
          {"max_position_embeddings", o.context},
          {"num_attention_heads", o.heads},
          {"num_hidden_layers", o.layers},
          {"num_key_value_heads", o.kv_heads},
          {"pad_token_id", token_or_null(o.padding)},
          {"rms_norm_eps", o.eps},
          {"tie_word_embeddings", o.tied},
          {"vocab_size", o.vocabulary}};
}

}  // namespace hydra
