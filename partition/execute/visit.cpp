#include "partition/execute/visit.hpp"

#include "models/scalar_type.hpp"
#include "partition/execute/saved_graph.hpp"
#include "partition/execute/shard_tensors.hpp"
#include "runtime/device/device_block.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/clone_ops.h>
#include <ATen/ops/new_zeros_ops.h>
#include <ATen/ops/zeros_like_ops.h>

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

/// Blocks are copied as raw bytes. This makes no copy.
at::Tensor typed(const at::Tensor& raw, element type) {
  const auto wanted = scalar_type(type);
  return raw.scalar_type() == wanted ? raw : raw.view(wanted);
}

/// The view of a block that a layer gets: with its shape.
at::Tensor typed(const at::Tensor& raw, const tensor_spec& spec) { return typed(raw, spec.type).view(spec.shape); }

/// In fp32, whatever the parameters are.
at::Tensor zero_gradients(const at::Tensor& parameters) {
  return at::_ops::zeros_like::call(parameters, at::kFloat, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
}

/// Another wave adds to the gradients that it leaves.
bool passes_on_sum(const unit& u, const work_graph& step) {
  return std::ranges::any_of(step.at(step.find(u).value()).writes, [&](const block_use& use) {
    return use.role == block_role::sum && !step.readers(use.block).empty();
  });
}

}  // namespace

std::vector<evaluation_score> scores_in(std::span<const float> written_back) {
  std::vector<evaluation_score> scores;
  for (std::size_t i = 0; i + 1 < written_back.size(); i += 2) {
    scores.push_back({written_back[i], written_back[i + 1]});
  }
  return scores;
}

visit::visit(sharded_model_ptr model, const unit& what, std::size_t targets)
    : model_(std::move(model)), what_(what), targets_(targets) {}

void visit::run(std::size_t k, const parameter_blocks& parameters, const micro_batch_blocks& blocks,
                const results& out) {
  const visit_context context{
      .seed = model_->seed,
      .step = what_.step.value,
      .micro_batch = model_->first_micro_batch() + what_.first_micro_batch.value + static_cast<std::uint32_t>(k),
      .targets = targets_,
      .training = what_.way != direction::evaluate,
      .lowest_trained = what_.shard.value == model_->plan.first_trained};
  if (what_.way == direction::evaluate && out.loss) {
    run_score(k, context, parameters, blocks, out);
  } else if (what_.way != direction::backward) {
    run_forward(context, parameters, blocks);
  } else {
    run_backward(k, context, parameters, blocks, out);
  }
}

at::Tensor visit::input_tensor(const device_block& block) const {
  return typed(block.tensor, model_->plan.shards[what_.shard.value].input_spec);
}

shard_values visit::values_of(const parameter_blocks& parameters) const {
  const auto type = model_->shards[what_.shard.value].layout().type();
  return {typed(parameters.trained->tensor, type),
          parameters.base ? parameters.base->tensor.view(at::kByte) : at::Tensor()};
}

void visit::run_forward(const visit_context& context, const parameter_blocks& parameters,
                        const micro_batch_blocks& blocks) {
  const auto& piece = model_->shards[what_.shard.value];
  const auto values = values_of(parameters);
  const auto input = input_tensor(*blocks.input);
  blocks.output->tensor = blocks.saved ? piece.forward_saving(values, input, context, *blocks.saved)
                                       : piece.forward(values, input, context);
}

void visit::run_score(std::size_t k, const visit_context& context, const parameter_blocks& parameters,
                      const micro_batch_blocks& blocks, const results& out) {
  const at::NoGradGuard no_grad;
  const auto& piece = model_->shards[what_.shard.value];
  const auto targets = typed(blocks.second->tensor, model_->plan.shards[what_.shard.value].second_spec);
  const auto score = piece.score(values_of(parameters), input_tensor(*blocks.input), targets, context);
  if (k == 0) {
    out.loss->tensor = at::_ops::new_zeros::call(score, {what_.micro_batches, 2}, {}, {}, {}, {});
  }
  out.loss->tensor.select(0, static_cast<std::int64_t>(k)).copy_(score);
}

void visit::run_backward(std::size_t k, const visit_context& context, const parameter_blocks& parameters,
                         const micro_batch_blocks& blocks, const results& out) {
  const auto& piece = model_->shards[what_.shard.value];
  if (k == 0) {
    begin_gradients(parameters, out);
  }
  const auto second = typed(blocks.second->tensor, model_->plan.shards[what_.shard.value].second_spec);
  const auto input = input_tensor(*blocks.input);
  auto result = blocks.saved && blocks.saved->recorded()
                    ? piece.backward_saved(*bound_, {values_of(parameters), input}, second, *blocks.saved)
                    : piece.backward(*bound_, input, second, context);
  if (blocks.output) {
    blocks.output->tensor = std::move(result.input_gradient);
  }
  if (piece.last()) {
    const at::NoGradGuard no_grad;
    if (k == 0) {
      out.loss->tensor = at::_ops::new_zeros::call(result.loss, {what_.micro_batches}, {}, {}, {}, {});
    }
    out.loss->tensor.select(0, static_cast<std::int64_t>(k)).copy_(result.loss);
  }
  if (k + 1 == what_.micro_batches) {
    if (model_->model->gradients() == precision::bf16 && !passes_on_sum(what_, model_->graphs->step)) {
      round_gradients(out);
    }
    bound_ = nullptr;
  }
}

/// A sum in another block stays as it is: it is still being written back, and a later attempt may read it.
void visit::begin_gradients(const parameter_blocks& parameters, const results& out) {
  const at::NoGradGuard no_grad;
  const auto& piece = model_->shards[what_.shard.value];
  const auto values = values_of(parameters);
  if (!out.sum) {
    out.gradients->tensor = zero_gradients(values.trained);
  } else {
    const auto sum = typed(out.sum->tensor, element::f32).view(values.trained.sizes());
    out.gradients->tensor = out.sum == out.gradients ? sum : at::_ops::clone::call(sum, std::nullopt);
  }
  bound_ = std::make_shared<bound_parameters>(piece.bind(values, out.gradients->tensor));
}

/// Gradients for a step on the device are widened again: the same values as on the host.
void visit::round_gradients(const results& out) const {
  const at::NoGradGuard no_grad;
  const auto rounded = rounded_sum(*bound_);
  if (model_->plan.shards[what_.shard.value].steps_on_device) {
    out.gradients->tensor.copy_(rounded);
  } else {
    out.gradients->tensor = rounded;
  }
}

}  // namespace hydra
