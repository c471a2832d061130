#pragma once
// BERT's config.json, both ways.

#include "models/families/bert/bert.hpp"
#include "models/families/architecture.hpp"

#include <string>

namespace hydra {

/// For "BertForMaskedLM", "BertForPreTraining" (whose prediction of the next sentence is left out),
/// "BertForSequenceClassification" and "BertModel", which has no head of its own: `options.head` must name one. Named
/// there, a head takes the place of the architecture's, with as many classes as the data have.
/// Throws fault_error{bad_input} with the key for what Hydra's BERT cannot do.
chain_description bert_from_config(const model_config& config, const from_options& options);

/// config.json of a chain with these options (complete: nothing is left to the data) and the data's labels.
std::string bert_config_text(const bert_options& options, const data_source& data);

}  // namespace hydra
