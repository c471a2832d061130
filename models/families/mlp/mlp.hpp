#pragma once
// Multi-layer perceptron on feature vectors.

#include "models/families/catalog.hpp"

namespace hydra {

struct mlp_options {
  std::int64_t layers = 2;  ///< hidden layers
  std::int64_t width = 0;
  double dropout = 0;
};

/// Layers 0..n-1 = linear + GELU (+ dropout), n = linear to the data's classes.
chain_description mlp(const mlp_options& options);

}  // namespace hydra
