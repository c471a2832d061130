#pragma once
// Vision transformer: patches of an image as tokens, pre-LN blocks, a class token (Dosovitskiy et al. 2020).

#include "models/families/catalog.hpp"
#include "models/layers/activation.hpp"

namespace hydra {

struct vit_options {
  std::int64_t layers = 0;  ///< blocks
  std::int64_t width = 0;
  std::int64_t heads = 0;   ///< divides width
  std::int64_t hidden = 0;  ///< units of the feed-forward networks; 0: 4 * width
  std::int64_t patch = 0;   ///< side of a patch, in pixels; divides the images' sides
  std::vector<std::int64_t> image{};  ///< [channels, height, width] that are requested of the data; empty: as they are
  activation act = activation::gelu;
  bool qkv_bias = true;
  double dropout = 0;            ///< embeddings, attention output and feed-forward output
  double attention_dropout = 0;  ///< the attention's probabilities
  double eps = 1e-12;            ///< of the norms
};

/// Layer 0 = patches, class token and positions, 1..n = whole blocks, n+1 = final norm and classifier. Names as in
/// Hugging Face's checkpoints: vit.embeddings..., vit.encoder.layer.{i}..., vit.layernorm..., classifier....
chain_description vit(const vit_options& options);

}  // namespace hydra
