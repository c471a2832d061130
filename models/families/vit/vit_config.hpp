#pragma once
// The vision transformer's config.json, read and written.

#include "models/families/architecture.hpp"
#include "models/families/vit/vit.hpp"

#include <string>

namespace hydra {

/// For "ViTForImageClassification". With `options.head` = "classification" the classifier is a new one with as many
/// classes as the data have. Throws fault_error{bad_input} with the key for what Hydra's layers do not support.
chain_description vit_from_config(const model_config& config, const from_options& options);

/// config.json of a chain with these options (complete: nothing comes from the data) and the data's labels.
std::string vit_config_text(const vit_options& options, const data_source& data);

}  // namespace hydra
