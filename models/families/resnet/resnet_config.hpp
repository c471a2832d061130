#pragma once
// ResNetForImageClassification: its config.json, read and written.

#include "models/families/architecture.hpp"
#include "models/families/resnet/resnet.hpp"

namespace hydra {

/// Throws fault_error{bad_input} with the key for another activation than ReLU and for lists of different length.
chain_description resnet_from_config(const model_config& config, const from_options& options);

/// Text of config.json. `options` must have channels; labels are the data's.
std::string resnet_config(const resnet_options& options, const data_source& data);

}  // namespace hydra
