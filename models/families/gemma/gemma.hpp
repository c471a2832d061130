#pragma once
// Gemma 2 and 3: Llama's blocks with more norms, GeGLU, windows and soft caps (Gemma Team 2024, 2025).

#include "models/families/catalog.hpp"

#include <cstdint>
#include <vector>

namespace hydra {

/// Defaults: Gemma 2 without windows and caps. With qk_norm and local_rope_theta: Gemma 3.
struct gemma_options {
  std::int64_t layers = 0;  ///< blocks
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;                ///< divide heads; 0: heads
  std::int64_t head_size = 0;               ///< even; 0: width / heads
  std::int64_t hidden = 0;                  ///< features between the projections of an MLP
  std::int64_t context = 0;                 ///< tokens per sample
  std::int64_t vocabulary = 0;              ///< 0: from the data
  std::int64_t padding = -1;    ///< id whose vector is trained by the head only; negative: none
  std::int64_t window = 0;                  ///< tokens that a token attends to, itself included; 0: to all before it
  std::vector<std::int64_t> full_layers{};  ///< blocks without the window, from 0
  double rope_theta = 10000;
  double rope_factor = 1;       ///< positions are divided by it
  double local_rope_theta = 0;  ///< of blocks with the window, without rope_factor; 0: they are like the others
  double query_scale = 0;       ///< scores are divided by its root; 0: head_size
  double score_cap = 0;         ///< scores of attention s become cap * tanh(s / cap); 0: they stay
  double logit_cap = 0;         ///< the same for logits
  double eps = 1e-6;            ///< of the norms
  bool tied = true;
  bool qk_norm = false;
};

/// Layers and names of decoder_chain(). No biases, no dropout.
chain_description gemma(const gemma_options& options);

}  // namespace hydra
