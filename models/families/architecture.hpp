#pragma once
// The model architectures of Hugging Face checkpoints that Hydra knows: a table (adding one = one function + one line).

#include "models/families/catalog.hpp"
#include "models/weights/model_config.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra {

/// What `chain = { from = "FOLDER", ... }` can change.
struct from_options {
  std::int64_t context = 0;  ///< tokens per sample; 0: the checkpoint's maximum
  double dropout = -1;       ///< if the architecture has dropout; below 0: the checkpoint's
  std::string head{};        ///< "masked-lm", "classification"; empty: the architecture's own
  std::vector<std::string> tokens{};  ///< that the tokenizer and the embedding get where they lack them
  std::int64_t rows = 0;  ///< that the embedding and the head have at least; 0: as many as there are and `tokens` need
};

/// One entry of config.json's "architectures".
struct architecture {
  std::string name;  ///< "GPT2LMHeadModel"
  std::string type;  ///< "model_type", by which transformers chooses the model: "gpt2"
  /// Describes the chain. Its parameters have the names of the checkpoint's tensors, or chain::hub() maps them. Throws
  /// fault_error{bad_input} with the key for what Hydra's layers do not support.
  chain_description (*read)(const model_config& config, const from_options& options);
};

const std::vector<architecture>& architectures();

}  // namespace hydra
