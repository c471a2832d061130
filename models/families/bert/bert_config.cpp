#include "models/families/bert/bert_config.hpp"

#include "models/families/activation_choice.hpp"
#include "models/families/config_text.hpp"
#include "models/families/labels.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace hydra {
namespace {

using nlohmann::json;

bool has_architecture(const model_config& config, const char* name) {
  const json names = config.content().value("architectures", json::array());
  return std::ranges::find(names, json(name)) != names.end();
}

void require_encoder(const model_config& config) {
  config.require("is_decoder", false);
  config.require("add_cross_attention", false);
  config.require("position_embedding_type", "absolute");
  config.require("tie_word_embeddings", true);
}

bert_head head_of(const model_config& config, const from_options& options) {
  if (!options.head.empty()) return bert_head_named(config.file(), options.head);
  if (has_architecture(config, "BertForSequenceClassification")) return bert_head::classification;
  if (has_architecture(config, "BertModel"))
    config.refuse("architectures", "BertModel has no head; set head = \"masked-lm\" or \"classification\"");
  return bert_head::masked_lm;
}

void read_sizes(const model_config& config, bert_options& b) {
  b.layers = config.integer("num_hidden_layers");
  b.width = config.integer("hidden_size");
  b.heads = config.integer("num_attention_heads");
  b.hidden = config.integer("intermediate_size");
  b.positions = config.integer("max_position_embeddings");
  b.vocabulary = config.integer("vocab_size");
  b.types = config.integer("type_vocab_size", 2);
  b.padding = padding_from(config, 0);
  b.act = activation_key(config, "hidden_act");
  b.eps = config.real("layer_norm_eps", 1e-12);
}

void read_dropout(const model_config& config, double wanted, bert_options& b) {
  const auto read = [&](const char* key, double fallback) { return wanted >= 0 ? wanted : config.real(key, fallback); };
  b.dropout = read("hidden_dropout_prob", 0.1);
  b.attention_dropout = read("attention_probs_dropout_prob", 0.1);
  b.classifier_dropout = read("classifier_dropout", b.dropout);
}

bert_options read_options(const model_config& config, const from_options& options) {
  bert_options b;
  read_sizes(config, b);
  read_dropout(config, options.dropout, b);
  b.head = head_of(config, options);
  b.context = options.context > 0 ? options.context : b.positions;
  if (b.context > b.positions)
    config.refuse("max_position_embeddings", fmt::format("{}; the context asked for is {}", b.positions, b.context));
  return b;
}

}  // namespace

chain_description bert_from_config(const model_config& config, const from_options& options) {
  require_encoder(config);
  const bert_options b = read_options(config, options);
  const bool stored = b.head == bert_head::classification && options.head.empty();
  return labelled(bert(b), config, stored ? label_names::stored : label_names::fresh);
}

std::string bert_config_text(const bert_options& b, const data_source& data) {
  const bool masked_lm = b.head == bert_head::masked_lm;
  json table{{"architectures", {masked_lm ? "BertForMaskedLM" : "BertForSequenceClassification"}},
             {"model_type", "bert"},
             {"vocab_size", b.vocabulary},
             {"hidden_size", b.width},
             {"num_hidden_layers", b.layers},
             {"num_attention_heads", b.heads},
             {"intermediate_size", b.hidden},
             {"hidden_act", to_string(b.act)},
             {"hidden_dropout_prob", b.dropout},
             {"attention_probs_dropout_prob", b.attention_dropout},
             {"classifier_dropout", b.classifier_dropout},
             {"max_position_embeddings", b.positions},
             {"type_vocab_size", b.types},
             {"layer_norm_eps", b.eps},
             {"initializer_range", 0.02},
             {"pad_token_id", token_or_null(b.padding)},
             {"tie_word_embeddings", true},
             {"dtype", "float32"}};
  if (!masked_lm) add_labels(table, data);
  return json_text(table, 2);
}

}  // namespace hydra
