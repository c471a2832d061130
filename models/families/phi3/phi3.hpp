#pragma once
// Phi-3 and Phi-4-mini: Llama's blocks with fused projections and partly rotated heads (Abdin et al. 2024).

#include "models/families/catalog.hpp"
#include "models/layers/rope_scaling.hpp"

#include <cstdint>

namespace hydra {

struct phi3_options {
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
  std::int64_t rotated = 0;     ///< features of a head that are rotated, even; 0: head_size
  double rope_theta = 10000;
  rope_scaling scaling{};
  double eps = 1e-5;  ///< of the norms
  bool tied = false;
};

/// Layers and names of decoder_chain(). No biases, no dropout.
chain_description phi3(const phi3_options& options);

}  // namespace hydra
