#pragma once
// What a layer remembers of the tokens it has seen while a text is generated.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace hydra {

/// The keys and values of attention.
struct decode_memory {
  std::int64_t seen = 0;              ///< number of tokens so far
  std::vector<at::Tensor> tensors{};  ///< defined by the layer; empty before the first token
};

}  // namespace hydra
