#pragma once
// The config.json of Phi-3 as Hugging Face writes it.

#include "models/families/architecture.hpp"
#include "models/families/phi3/phi3.hpp"

#include <cstdint>

namespace hydra {

/// The padding of a config.json that names none, if the vocabulary has it.
constexpr std::int64_t phi3_padding = 32000;

/// Phi3ForCausalLM. Of longrope's two lists of factors the context decides which one is used: long_factor for more
/// tokens than original_max_position_embeddings. transformers decides it for each text by its length. Throws
/// fault_error{bad_input} with the key for variants that Hydra's blocks would compute differently.
chain_description phi3_from_config(const model_config& config, const from_options& options);

/// How a chain of phi3(options) with a known vocabulary, kv_heads and head_size is exported; an empty form for heads
/// that do not divide the width, or scaled positions.
hub_form phi3_hub_form(const phi3_options& options);

}  // namespace hydra
