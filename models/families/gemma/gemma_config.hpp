#pragma once
// The config.json of Gemma 2 and 3 as Hugging Face writes it.

#include "models/families/architecture.hpp"
#include "models/families/gemma/gemma.hpp"

namespace hydra {

/// Gemma2ForCausalLM, and Gemma3ForCausalLM with the text model of Gemma 3. Probabilities of the attention
/// (attention_dropout) are never dropped. Throw fault_error{bad_input} with the key for variants that Hydra's blocks
/// would compute differently.
chain_description gemma2_from_config(const model_config& config, const from_options& options);
chain_description gemma3_from_config(const model_config& config, const from_options& options);

/// How a chain of gemma(options) with a known vocabulary, kv_heads and head_size is exported: as Gemma 2, or with
/// qk_norm as Gemma 3; an empty form for what neither of them has.
hub_form gemma_hub_form(const gemma_options& options);

}  // namespace hydra
