#pragma once
// What a layer keeps of the tokens it has seen while a text grows.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace hydra {

/// The keys and values of attention.
struct decode_memory {
  std::int64_t seen = 0;              ///< tokens before the next ones
  std::vector<at::Tensor> tensors{};  ///< the layer's own; empty before the first token
};

}  // namespace hydra
