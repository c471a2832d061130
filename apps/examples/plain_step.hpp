#pragma once
// What one_step.cpp trains, and the same step in plain LibTorch: the whole chain with autograd, and PyTorch's AdamW.

#include "models/weights/digest.hpp"
#include "runtime/memory/host_arena.hpp"

#include <hydra/hydra.hpp>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adamw_ops.h>
#include <ATen/ops/from_blob.h>

#include <string>
#include <vector>

namespace plain {

using namespace hydra;

constexpr std::uint32_t context = 8, samples = 2, micro_batches = 4;  // tokens of a sample, samples of a micro-batch
constexpr std::size_t targets = context * samples * micro_batches;    // of the step: the loss is divided by them
constexpr std::uint64_t seed = 7;
inline const auto rule = adamw({.learning_rate = 0.01});

struct step_data {
  std::vector<host_block_ptr> inputs{}, labels{};  ///< of each micro-batch: i64 [samples, context]
};

inline step_data read(const data_source& source, host_arena& arena) {
  step_data all;
  const auto n = source.sample_input().bytes();
  for (std::uint32_t k = 0; k < micro_batches; ++k) {
    for (auto* blocks : {&all.inputs, &all.labels}) blocks->push_back(arena.allocate(n * samples, "data"));
    for (std::size_t i = 0; i < samples; ++i)
      source.read(split::train, k * samples + i, {all.inputs[k]->data() + i * n.value(), n.value()},
                  {all.labels[k]->data() + i * n.value(), n.value()});
  }
  return all;
}

/// Of the parameters after the step.
inline std::string digest_after(const chain& model, const step_data& data) {
  const parameter_layout layout(model, 0, model.size());
  const auto flat = make_host_arena(byte_count{1 << 20})->allocate(layout.bytes(), "parameters");
  layout.initialise(flat->floats(), model, seed);
  const auto tensor = at::from_blob(flat->data(), {static_cast<std::int64_t>(layout.elements())}, at::kFloat);
  std::vector<std::vector<at::Tensor>> layers(model.size());
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (const auto& view : layout.views(tensor, i)) layers[i].push_back(view.detach().requires_grad_());
  for (std::uint32_t k = 0; k < micro_batches; ++k) {
    const auto ids = [](host_block& block) { return at::from_blob(block.data(), {samples, context}, at::kLong); };
    auto x = ids(*data.inputs[k]);
    for (std::uint32_t i = 0; i < layers.size(); ++i)
      x = model.forward(i, layers[i], x, {.seed = seed, .micro_batch = k, .layer = i});
    model.objective().sum(x, ids(*data.labels[k])).div(static_cast<double>(targets)).backward();
  }
  const at::NoGradGuard no_grad;
  for (const auto& layer : layers)
    for (const auto& p : layer)
      at::_ops::_fused_adamw_::call(p, p.grad().contiguous(), p.new_zeros(p.sizes()), p.new_zeros(p.sizes()), {},
                                    p.new_ones({1}), rule.learning_rate, rule.beta1, rule.beta2, rule.weight_decay,
                                    rule.eps, false, false, {}, {});
  digest d;
  for (const auto& p : layout.parameters()) d.add(flat->floats().subspan(p.offset, p.elements));
  return d.finish();
}

}  // namespace plain
