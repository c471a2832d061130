#pragma once
// Hydra's own operations in exported graphs (FORMAT.md, "Hydra's operations").

#include "models/layer.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace hydra {

/// Undefined tensors stand for null.
struct attention_call {
  at::Tensor query, key, value, mask;
  double dropout = 0;
  bool is_causal = false;
  std::optional<double> scale{};
  bool grouped = false;  ///< each head of key and value is that of several of the query
  std::uint32_t site = 0;
};

/// The mask does not depend on the layer's place: sites are unique in the model.
at::Tensor graph_dropout(const at::Tensor& input, double p, std::uint32_t site, const layer_context& context);

/// PyTorch's kernel when not training; in training written out, with keyed dropout.
at::Tensor graph_attention(const attention_call& call, const layer_context& context);

}  // namespace hydra
