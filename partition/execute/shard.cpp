#include "partition/execute/shard.hpp"

#include "partition/execute/shard_tensors.hpp"
#include "partition/profile/footprint.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/div_ops.h>
#include <ATen/ops/stack_ops.h>
#include <ATen/ops/zeros_like_ops.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hydra {

namespace {

at::Tensor zeros_like(const at::Tensor& t) { return at::_ops::zeros_like::call(t, {}, {}, {}, {}, {}); }

/// Piece by piece on the CPU, where the addend is widened to fp32 in memory first; other devices widen in registers.
void add_part(const bound_parameters& bound) {
  const auto piece = bound.sum.is_cpu() ? static_cast<std::int64_t>(widening_room.value() / sizeof(float)) : bound.sum.numel();
  const at::NoGradGuard no_grad;
  for (std::int64_t i = 0; i < bound.sum.numel(); i += piece) {
    const auto n = std::min(piece, bound.sum.numel() - i);
    bound.sum.narrow(0, i, n).add_(bound.part.narrow(0, i, n));
  }
  bound.part.zero_();
}

}  // namespace

at::Tensor rounded_sum(const bound_parameters& bound) {
  const at::NoGradGuard no_grad;
  return bound.part.copy_(bound.sum);
}

shard::shard(std::shared_ptr<const chain> model, std::size_t first, std::size_t last)
    : model_(std::move(model)), first_(first), last_(last), layout_(*model_, first, last) {}

at::Tensor shard::run(const std::vector<std::vector<at::Tensor>>& parameters, const at::Tensor& input,
                      const visit_context& context) const {
  at::Tensor x = input;
  for (std::size_t i = first_; i < last_; ++i) {
    const layer_context where{.seed = context.seed,
                              .step = context.step,
                              .micro_batch = context.micro_batch,
                              .layer = static_cast<std::uint32_t>(i),
                              .training = context.training};
    x = model_->forward(i, parameters[i - first_], x, where);
  }
  return x;
}

at::Tensor shard::forward(const shard_values& parameters, const at::Tensor& input, const visit_context& context) const {
  const at::NoGradGuard no_grad;
  std::vector<std::vector<at::Tensor>> views;
  for (std::size_t i = first_; i < last_; ++i) {
    views.push_back(layout_.views(parameters.trained, parameters.base, i));
  }
  return run(views, input, context);
}

at::Tensor shard::score(const shard_values& parameters, const at::Tensor& input, const at::Tensor& targets,
                        const visit_context& context) const {
  const at::NoGradGuard no_grad;
  const at::Tensor y = in_fp32(forward(parameters, input, context));
  const at::Tensor sum = model_->objective().sum(y, targets).reshape({});
  const auto correct = model_->objective().correct(y, targets);
  const std::array both{sum, correct ? correct->reshape({}) : at::_ops::zeros_like::call(sum, {}, {}, {}, {}, {})};
  return at::_ops::stack::call(both, 0);
}

bound_parameters shard::bind(const shard_values& parameters, const at::Tensor& gradients) const {
  bound_parameters bound;
  const bool widened = parameters.trained.scalar_type() != gradients.scalar_type();
  if (widened) {
    bound.sum = gradients;
    bound.part = zeros_like(parameters.trained);
  }
  for (std::size_t i = first_; i < last_; ++i) {
    const auto gradients_of_layer = layout_.views(widened ? bound.part : gradients, i);
    bound.layers.push_back(leaves_of(layout_.views(parameters.trained, parameters.base, i), gradients_of_layer));
  }
  return bound;
}

backward_result shard::backward(const bound_parameters& bound, const at::Tensor& input, const at::Tensor& upstream,
                                const visit_context& context) const {
  auto result = differentiate(bound, input, upstream, context);
  if (bound.part.defined()) {
    add_part(bound);
  }
  return result;
}

backward_result shard::differentiate(const bound_parameters& bound, const at::Tensor& input, const at::Tensor& upstream,
                                     const visit_context& context) const {
  const at::AutoGradMode with_grad(true);
  const bool passes_on = !first() && !context.ends_step;
  const at::Tensor x = passes_on ? input.detach().requires_grad_(true) : input;
  const at::Tensor y = run(bound.layers, x, context);
  backward_result result;
  if (last()) {
    const at::Tensor sum = model_->objective().sum(in_fp32(y), upstream);
    const at::Tensor part = at::_ops::div_Scalar::call(sum, static_cast<double>(context.targets));
    part.backward();
    result.loss = part.detach();
  } else {
    y.backward(upstream);
  }
  if (passes_on) {
    result.input_gradient = x.grad().contiguous();
  }
  return result;
}

}  // namespace hydra
