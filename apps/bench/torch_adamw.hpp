#pragma once
// AdamW as LibTorch has it, on memory of others.

#include <cstddef>
#include <functional>

namespace hydra::apps {

struct adamw_memory {
  std::size_t n = 0;
  float *parameters, *gradients, *first, *second;
};

/// at::_fused_adamw_: one step at each call.
std::function<void()> fused_adamw(const adamw_memory& memory);
/// torch::optim::AdamW, which has moments of its own.
std::function<void()> torch_adamw(const adamw_memory& memory);

}  // namespace hydra::apps
