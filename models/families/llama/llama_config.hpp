#pragma once
// The config.json of Llama and similar models as Hugging Face writes it.

#include "models/families/architecture.hpp"
#include "models/families/llama/llama.hpp"

namespace hydra {

/// LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM. Rotary positions are read from
/// rope_parameters (transformers 5) or from rope_theta and rope_scaling. Probabilities of the attention
/// (attention_dropout) are never dropped. Throw fault_error{bad_input} with the key for variants that Hydra's blocks
/// would compute differently.
chain_description llama_from_config(const model_config& config, const from_options& options);
chain_description mistral_from_config(const model_config& config, const from_options& options);
chain_description qwen2_from_config(const model_config& config, const from_options& options);
chain_description qwen3_from_config(const model_config& config, const from_options& options);

/// How a chain of llama(options) with a known vocabulary, kv_heads and head_size is exported: as the architecture that
/// has these biases, norms and windows; an empty form if there is none.
hub_form llama_hub_form(const llama_options& options);

}  // namespace hydra
