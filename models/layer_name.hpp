#pragma once
// Layers and tensors in messages.

#include "models/chain.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <cstddef>
#include <string>

namespace hydra {

/// "layer 2 ("h.1.") of chain "gpt2" (transformer-block width=64 heads=2)".
std::string layer_name(const chain& model, std::size_t i);

/// "f32[8, 64, 128]"; types that chains do not have are named as LibTorch does.
std::string to_string(const at::Tensor& t);

}  // namespace hydra
