#include "partition/execute/visit.hpp"

#include "models/pieces/piece_columns.hpp"
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
#include <span>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// Blocks are copied as raw bytes. This makes no copy.
at::Tensor typed(const at::Tensor& raw, element type) {
  const auto wanted = scalar_type(type);
  return raw.scalar_type() == wanted ? raw : raw.view(wanted);
}

/// The view of a block that a layer gets: with its shape.
at::Tensor typed(const at::Tensor& raw, const tensor_spec& spec) { return typed(raw, spec.type).view(spec.shape); }

void append(std::vector<at::Tensor>& to, std::span<const device_block_ptr> blocks, std::span<const tensor_spec> specs) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    to.push_back(typed(blocks[i]->tensor, specs[i]));
  }
}

at::Tensor with_terms(const at::Tensor& first, std::span<const device_block_ptr> terms,
                      std::span<const tensor_spec> specs) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> all{first};
  append(all, terms, specs);
  return sum_of_terms(all);
}

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

/// It passes no gradient on.
bool is_lowest_trained(const sharded_model& m, const unit& u) {
  const auto* pieces = group_of(u.shard, m.plan.groups);
  return (pieces ? pieces->first : u.shard.value) == m.plan.first_trained;
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
      .lowest_trained = is_lowest_trained(*model_, what_)};
  if (what_.way == direction::evaluate && out.loss) {
    run_score(k, context, parameters, blocks, out);
  } else if (what_.way != direction::backward) {
    run_forward(context, parameters, blocks);
  } else {
    run_backward(k, context, parameters, blocks, out);
  }
}

at::Tensor visit::input_of(const micro_batch_blocks& blocks) const {
  const auto& spec = planned().input_spec;
  if (blocks.more_inputs.empty()) {
    return typed(blocks.input->tensor, spec);
  }
  const auto& terms = planned().terms;
  if (planned().joins_columns) {
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> columns{typed(blocks.input->tensor, terms.front())};
    append(columns, blocks.more_inputs, std::span(terms).subspan(1));
    return joined_columns(columns);
  }
  return with_terms(typed(blocks.input->tensor, spec), blocks.more_inputs, terms);
}

/// Of a piece: what there is behind its columns follows the sum.
at::Tensor visit::second_of(const micro_batch_blocks& blocks) const {
  const auto& spec = planned().second_spec;
  const auto second = typed(blocks.second->tensor, spec);
  if (!blocks.more_upstream.empty()) {
    return with_terms(second, blocks.more_upstream, std::vector(blocks.more_upstream.size(), spec));
  }
  const auto& own = planned().output_columns;
  return own ? second.narrow(-1, own->first, own->size()).contiguous() : second;
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
  const auto input = input_of(blocks);
  if (blocks.joined) {
    blocks.joined->tensor = input;
  }
  blocks.output->tensor = blocks.saved ? piece.forward_saving(values, input, context, *blocks.saved)
                                       : piece.forward(values, input, context);
}

void visit::run_score(std::size_t k, const visit_context& context, const parameter_blocks& parameters,
                      const micro_batch_blocks& blocks, const results& out) {
  const at::NoGradGuard no_grad;
  const auto& piece = model_->shards[what_.shard.value];
  const auto targets = second_of(blocks);
  const auto score = piece.score(values_of(parameters), input_of(blocks), targets, context);
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
  const auto second = second_of(blocks);
  const auto input = input_of(blocks);
  auto result = blocks.saved && blocks.saved->recorded()
                    ? piece.backward_saved(*bound_, {values_of(parameters), input}, second, *blocks.saved)
                    : piece.backward(*bound_, input, second, context);
  if (blocks.output) {
    const auto& input_spec = planned().input_spec;
    blocks.output->tensor = blocks.skip ? with_terms(result.input_gradient, {&blocks.skip, 1}, {&input_spec, 1})
                                        : std::move(result.input_gradient);
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
