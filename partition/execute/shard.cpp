#include "partition/execute/shard.hpp"

#include "models/chain_loss.hpp"
#include "models/named_backward.hpp"
#include "partition/execute/saved_graph.hpp"
#include "partition/execute/shard_tensors.hpp"
#include "partition/profile/footprint.hpp"
#include "runtime/base/fault.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/div_ops.h>
#include <ATen/ops/stack_ops.h>
#include <ATen/ops/zeros_like_ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hydra {

namespace {

at::Tensor zeros_like(const at::Tensor& t) { return at::_ops::zeros_like::call(t, {}, {}, {}, {}, {}); }

/// Piece by piece on the CPU, where the addend is widened to fp32 in memory first; other devices widen in registers.
void add_part(const at::Tensor& sum, const at::Tensor& part) {
  const auto piece = sum.is_cpu() ? static_cast<std::int64_t>(widening_room.value() / sizeof(float)) : sum.numel();
  const at::NoGradGuard no_grad;
  for (std::int64_t i = 0; i < sum.numel(); i += piece) {
    const auto n = std::min(piece, sum.numel() - i);
    sum.narrow(0, i, n).add_(part.narrow(0, i, n));
  }
  part.zero_();
}

/// To a sum that begins undefined.
void add_to(at::Tensor& sum, const at::Tensor& addend) {
  const at::NoGradGuard no_grad;
  sum = sum.defined() ? sum.add(addend) : addend;
}

layer_context where(std::size_t layer, const visit_context& context) {
  return {.seed = context.seed,
          .step = context.step,
          .micro_batch = context.micro_batch,
          .layer = static_cast<std::uint32_t>(layer),
          .training = context.training};
}

}  // namespace

at::Tensor rounded_sum(const bound_parameters& bound) {
  const at::NoGradGuard no_grad;
  return bound.part.copy_(bound.sum);
}

shard::shard(std::shared_ptr<const chain> model, std::size_t first, std::size_t last)
    : model_(std::move(model)), first_(first), last_(last), layout_(*model_, first, last) {
  input_has_gradient_ = model_->depends_on_gradients() && trains_below();
}

std::size_t shard::below() const { return first_ - model_->at(first_).place.piece.number; }

bool shard::trains_below() const {
  for (std::size_t i = 0; i < below(); ++i) {
    if (!std::ranges::all_of(model_->parameters(i), &parameter_spec::frozen)) {
      return true;
    }
  }
  return false;
}

at::Tensor shard::run(const bound_parameters& bound, const at::Tensor& input, const visit_context& context,
                      std::size_t begin, std::size_t end) const {
  at::Tensor x = input;
  for (std::size_t i = begin; i < end; ++i) {
    x = compute_layer(*model_, i, bound.layers[i - first_], x, where(i, context), bound.memory);
  }
  return x;
}

bound_parameters shard::views_of(const shard_values& parameters) const {
  bound_parameters views;
  for (std::size_t i = first_; i < last_; ++i) {
    views.layers.emplace_back(layout_, parameters.trained, parameters.base, i);
  }
  return views;
}

at::Tensor shard::forward(const shard_values& parameters, const at::Tensor& input, const visit_context& context) const {
  const auto views = views_of(parameters);
  const at::Tensor x = input.detach().set_requires_grad(input_has_gradient_ && context.training);
  return run_forward(views, x, context, first_, last_).detach();
}

at::Tensor shard::run_forward(const bound_parameters& views, at::Tensor x, const visit_context& context,
                              std::size_t begin, std::size_t end) const {
  for (std::size_t i = begin; i < end; ++i) {
    x = compute_layer_forward(*model_, i, views.layers[i - first_], x, where(i, context), views.memory);
  }
  return x;
}

at::Tensor shard::forward_saving(const shard_values& parameters, const at::Tensor& input, const visit_context& context,
                                 saved_graph& graph) const {
  const auto views = views_of(parameters);
  const bool passes_on = !first() && !context.lowest_trained;
  return graph.record({parameters, input}, views.layers, passes_on,
                      [&](const std::vector<layer_values>& leaves, const at::Tensor& x) {
                        return run({.layers = leaves, .memory = views.memory}, x, context, first_, last_);
                      });
}

/// `below`: the input of the last layer.
std::vector<row_range> shard::chunks_of(const at::Tensor& below, const at::Tensor& targets) const {
  if (model_->loss_chunk() == 0) {
    return std::vector<row_range>(1);
  }
  auto chunks = row_chunks(rows_of(below), model_->loss_chunk());
  if (chunks.size() > 1 && targets.numel() != rows_of(below)) {
    throw fault_error{fault_code::bad_input,
                      fmt::format("loss_chunk: the last layer has {} rows, but there are {} targets; leave it out",
                                  rows_of(below), targets.numel())};
  }
  return chunks;
}

at::Tensor shard::score_of(const at::Tensor& output, const at::Tensor& targets) const {
  const at::Tensor y = in_fp32(output);
  const at::Tensor sum = summed_loss(*model_, y, targets).reshape({});
  const auto correct = counted_correct(*model_, y, targets);
  const std::array both{sum, correct ? correct->reshape({}) : zeros_like(sum)};
  return at::_ops::stack::call(both, 0);
}

at::Tensor shard::score(const shard_values& parameters, const at::Tensor& input, const at::Tensor& targets,
                        const visit_context& context) const {
  const at::NoGradGuard no_grad;
  const auto views = views_of(parameters);
  at::Tensor below = run_forward(views, input, context, first_, last_ - 1);
  const auto chunks = chunks_of(below, targets);
  if (chunks.size() == 1) {
    below = run_forward(views, below, context, last_ - 1, last_);
    return score_of(below, targets);
  }
  at::Tensor scores;
  for (const auto& rows : chunks) {
    const at::Tensor y = run_forward(views, rows_of(below, rows), context, last_ - 1, last_);
    add_to(scores, score_of(y, targets_of(targets, rows)));
  }
  return scores;
}

bound_parameters shard::bind(const shard_values& parameters, const at::Tensor& gradients) const {
  auto bound = views_of(parameters);
  const bool widened = parameters.trained.scalar_type() != gradients.scalar_type();
  if (widened) {
    bound.sum = gradients;
    bound.part = zeros_like(parameters.trained);
  }
  for (std::size_t i = first_; i < last_; ++i) {
    auto& values = bound.layers[i - first_].parameters;
    values = leaves_of(values, layout_.views(widened ? bound.part : gradients, i));
  }
  return bound;
}

backward_result shard::backward(const bound_parameters& bound, const at::Tensor& input, const at::Tensor& upstream,
                                const visit_context& context) const {
  auto result = differentiate(bound, input, upstream, context);
  bound.memory->release();
  if (bound.part.defined()) {
    add_part(bound.sum, bound.part);
  }
  return result;
}

backward_result shard::backward_saved(const bound_parameters& bound, const read_buffers& buffers,
                                      const at::Tensor& upstream, saved_graph& graph) const try {
  backward_result result;
  result.input_gradient = graph.differentiate(bound, buffers, upstream);
  if (bound.part.defined()) {
    add_part(bound.sum, bound.part);
  }
  return result;
} catch (...) {
  rethrow_from_backward({*model_, first_, last_});
}

at::Tensor shard::loss_of(const at::Tensor& output, const at::Tensor& targets, const visit_context& context) const {
  const at::Tensor sum = summed_loss(*model_, output, targets);
  return at::_ops::div_Scalar::call(sum, static_cast<double>(context.targets));
}

/// `below`: the input of the last layer.
at::Tensor shard::backward_from_loss(const bound_parameters& bound, at::Tensor below, const at::Tensor& targets,
                                     const visit_context& context) const {
  if (chunks_of(below, targets).size() > 1) {
    return backward_in_chunks(bound, below, targets, context);
  }
  below = run(bound, below, context, last_ - 1, last_);
  const at::Tensor part = loss_of(below, targets, context);
  backward_through({*model_, first_, last_}, part, {});
  return part.detach();
}

/// Chunk by chunk, from the first on: the graph of one is freed before the next one is computed. The layers below are
/// differentiated once.
at::Tensor shard::backward_in_chunks(const bound_parameters& bound, const at::Tensor& below, const at::Tensor& targets,
                                     const visit_context& context) const {
  const bool passes_on = below.requires_grad();
  const at::Tensor upstream = passes_on ? zeros_like(below.detach()) : at::Tensor();
  at::Tensor loss;
  for (const auto& rows : chunks_of(below, targets)) {
    const at::Tensor x = rows_of(below.detach(), rows).requires_grad_(passes_on);
    const at::Tensor y = run(bound, x, context, last_ - 1, last_);
    const at::Tensor part = loss_of(y, targets_of(targets, rows), context);
    backward_through({*model_, last_ - 1, last_}, part, {});
    add_to(loss, part.detach());
    add_part_of_last_layer(bound);
    if (passes_on) {
      rows_of(upstream, rows).copy_(x.grad());
    }
  }
  if (passes_on) {
    backward_through({*model_, first_, last_ - 1}, below, upstream);
  }
  return loss;
}

/// In fp32, as between micro-batches.
void shard::add_part_of_last_layer(const bound_parameters& bound) const {
  if (!bound.part.defined()) {
    return;
  }
  const auto sums = layout_.views(bound.sum, last_ - 1), parts = layout_.views(bound.part, last_ - 1);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].defined()) {
      add_part(sums[i].flatten(), parts[i].flatten());
    }
  }
}

backward_result shard::differentiate(const bound_parameters& bound, const at::Tensor& input, const at::Tensor& upstream,
                                     const visit_context& context) const {
  const at::AutoGradMode with_grad(true);
  const bool passes_on = !first() && !context.lowest_trained;
  const at::Tensor x = passes_on ? input.detach().requires_grad_(true) : input;
  backward_result result;
  if (last()) {
    result.loss = backward_from_loss(bound, run(bound, x, context, first_, last_ - 1), upstream, context);
  } else {
    const at::Tensor y = run(bound, x, context, first_, last_);
    if (y.requires_grad()) {  // a layer may cut its gradient off
      backward_through({*model_, first_, last_}, y, upstream);
    }
  }
  if (passes_on) {
    result.input_gradient = x.grad().defined() ? x.grad().contiguous() : zeros_like(x.detach());
  }
  return result;
}

}  // namespace hydra
