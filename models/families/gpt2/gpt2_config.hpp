#pragma once
// GPT-2's config.json as Hugging Face writes it: GPT2LMHeadModel.

#include "models/families/architecture.hpp"
#include "models/families/gpt2/gpt2.hpp"

namespace hydra {

/// One dropout for embeddings, attention output and MLP output: embd_pdrop and resid_pdrop must agree unless the user
/// gives another one, which then also replaces that of the attention's probabilities (attn_pdrop). Throws
/// fault_error{bad_input} with the key for variants that Hydra's blocks would compute differently.
chain_description gpt2_from_config(const model_config& config, const from_options& options);

/// How a chain of gpt2(options) with a known vocabulary is exported: names start with "transformer.", except lm_head.
hub_form gpt2_hub_form(const gpt2_options& options);

}  // namespace hydra
