#pragma once
// Llama and similar models: RMS norms, rotary positions, grouped-query attention, gated MLP (Touvron et al. 2023).

#include "models/families/catalog.hpp"
#include "models/layers/rope_scaling.hpp"

#include <vector>

namespace hydra {

/// Defaults: Llama 2 and 3. With window: Mistral. With qkv_bias: Qwen 2. With qk_norm: Qwen 3.
struct llama_options {
  std::int64_t layers = 0;  ///< blocks
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;    ///< divide heads; 0: heads
  std::int64_t head_size = 0;   ///< even; 0: width / heads
  std::int64_t hidden = 0;      ///< features between the projections of an MLP
  std::int64_t context = 0;     ///< tokens per sample
  std::int64_t vocabulary = 0;  ///< 0: from the data
  std::int64_t padding = -1;    ///< id whose vector is trained by the head only; negative: none
  std::int64_t window = 0;      ///< tokens that a token attends to, itself included; 0: to all before it
  std::vector<std::int64_t> full_layers{};  ///< blocks without the window, from 0
  double rope_theta = 10000;
  rope_scaling scaling{};
  double eps = 1e-5;  ///< of the norms
  bool tied = false;
  bool qkv_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool qk_norm = false;
};

/// Layers and names of decoder_chain(). No dropout.
chain_description llama(const llama_options& options);

}  // namespace hydra
