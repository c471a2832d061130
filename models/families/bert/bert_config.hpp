#pragma once
// BERT's config.json, read and written.

#include "models/families/architecture.hpp"
#include "models/families/bert/bert.hpp"

#include <string>

namespace hydra {

/// For "BertForMaskedLM", "BertForPreTraining" (whose prediction of the next sentence is left out),
/// "BertForSequenceClassification" and "BertModel", which has no head: `options.head` must name one. A head named there
/// replaces the architecture's, with as many classes as the data have. Throws fault_error{bad_input} with the key for
/// what Hydra's BERT does not support.
chain_description bert_from_config(const model_config& config, const from_options& options);

/// config.json of a chain with these options (complete: nothing comes from the data) and the data's labels.
std::string bert_config_text(const bert_options& options, const data_source& data);

}  // namespace hydra
