#pragma once
// A folder with a Hugging Face checkpoint (config.json and safetensors), described as a chain that starts from its
// weights.

#include "models/families/architecture.hpp"

#include <filesystem>
#include <string>

namespace hydra {

/// The chain of the architecture that config.json names. Its build() checks that the weights are those of the chain
/// (see hub_weights) and starts from them. A head that config.json ties and the file has with other values is not tied,
/// as in transformers; chain::notes() say that, what is in 4 bits, and what of the folder is not used. Throws
/// fault_error{bad_input} with the file: not a folder, a config.json or weights that cannot be read or are quantised in
/// another way, an unknown architecture, options that do not fit it.
chain_description describe_from(const std::filesystem::path& folder, const from_options& options);

/// weight_source::identity() of the weights in such a folder, whatever chain begins with them. Throws as
/// describe_from().
std::string weights_identity(const std::filesystem::path& folder);

/// For programs: .chain = from_checkpoint("gpt2", {.context = 512}).
inline chain_description from_checkpoint(const std::filesystem::path& folder, const from_options& options = {}) {
  return describe_from(folder, options);
}

}  // namespace hydra
