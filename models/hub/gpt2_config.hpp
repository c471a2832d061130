#pragma once
// GPT-2's config.json.

#include "models/hub/architecture.hpp"

namespace hydra {

/// GPT2LMHeadModel. Throws fault_error{bad_input} with the key for another MLP, activation or norm than GPT-2's.
chain_description gpt2_from_config(const model_config& config, const from_options& options);

}  // namespace hydra
