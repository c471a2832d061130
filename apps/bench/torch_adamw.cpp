#include "apps/bench/torch_adamw.hpp"

#include <torch/optim/adamw.h>
#include <torch/types.h>

#include <memory>
#include <vector>

namespace hydra::apps {
namespace {

constexpr double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, decay = 0.01, eps = 1e-8;

at::Tensor over(float* data, std::size_t n) { return at::from_blob(data, {static_cast<std::int64_t>(n)}); }

}  // namespace

std::function<void()> fused_adamw(const adamw_memory& memory) {
  const at::Tensor p = over(memory.parameters, memory.n), g = over(memory.gradients, memory.n),
                   m = over(memory.first, memory.n), v = over(memory.second, memory.n), step = at::ones({});
  return [=] {
    const at::NoGradGuard no_grad;
    at::_fused_adamw_({p}, {g}, {m}, {v}, {}, {step}, rate, beta1, beta2, decay, eps, /*amsgrad=*/false,
                      /*maximize=*/false);
  };
}

std::function<void()> torch_adamw(const adamw_memory& memory) {
  at::Tensor p = over(memory.parameters, memory.n).set_requires_grad(true);
  p.mutable_grad() = over(memory.gradients, memory.n);
  const auto options = torch::optim::AdamWOptions{rate}.betas({beta1, beta2}).eps(eps).weight_decay(decay);
  const auto optimizer = std::make_shared<torch::optim::AdamW>(std::vector<at::Tensor>{p}, options);
  return [optimizer] { optimizer->step(); };
}

}  // namespace hydra::apps
