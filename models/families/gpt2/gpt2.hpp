#pragma once
// GPT-2: learned positions, pre-LN blocks, tanh GELU, optionally tied head (Radford et al. 2019).

#include "models/families/catalog.hpp"

namespace hydra {

struct gpt2_options {
  std::int64_t layers = 0;  ///< blocks
  std::int64_t width = 0;
  std::int64_t heads = 0;       ///< divides width
  std::int64_t context = 0;     ///< tokens per sample
  std::int64_t vocabulary = 0;  ///< 0: from the data
  double dropout = 0;           ///< embeddings, attention output and MLP output
  double attention_dropout = 0;  ///< of the attention's probabilities
  double eps = 1e-5;            ///< of the norms
  bool tied = true;
};

/// Layer 0 = embeddings (wte + wpe), 1..n = whole blocks, n+1 = final norm and head. Names as Hugging Face's without
/// the "transformer." prefix: wte.weight, wpe.weight, h.{i}.ln_1..., h.{i}.attn.c_attn.weight [in, out], ln_f, lm_head.
chain_description gpt2(const gpt2_options& options);

}  // namespace hydra
