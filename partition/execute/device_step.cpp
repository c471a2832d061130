#include "partition/execute/device_step.hpp"

#include "models/optimizer/tensor_update.hpp"
#include "models/optimizer/update_rule.hpp"
#include "models/scalar_type.hpp"
#include "models/weights/stored_values.hpp"
#include "partition/execute/finite_parameters.hpp"
#include "runtime/device/device_block.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/clone_ops.h>
#include <ATen/ops/zeros_like_ops.h>

#include <algorithm>
#include <cstdint>

namespace hydra {

namespace {

at::Tensor as_type(const at::Tensor& raw, at::ScalarType type) {
  return raw.scalar_type() == type ? raw.flatten() : raw.flatten().view(type);
}

at::Tensor slice(const at::Tensor& flat, std::size_t offset, std::size_t elements) {
  return flat.defined() ? flat.narrow(0, static_cast<std::int64_t>(offset), static_cast<std::int64_t>(elements)) : flat;
}

/// True also where only a computation on the device could tell: no memory is planned for one, and `hydra export` looks.
bool seems_finite(const at::Tensor& values) {
  return !values.is_cpu() ||
         not_finite_in({values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())}) == 0;
}

}  // namespace

void step_on_device(const sharded_model& model, const unit& u, const step_blocks& blocks) {
  const at::NoGradGuard no_grad;
  const auto& layout = model.shards[u.shard.value].layout();
  const bool rounded = layout.type() != element::f32;
  const auto now = as_type(blocks.parameters->tensor, scalar_type(layout.type()));
  const auto gradients = as_type(blocks.gradients->tensor, at::kFloat);
  std::vector<at::Tensor> state;
  std::ranges::transform(blocks.state, std::back_inserter(state),
                         [](const device_block_ptr& b) { return as_type(b->tensor, at::kFloat); });
  at::Tensor copy;
  at::Tensor masters;
  if (rounded) {
    // Zero, so that the padding does not depend on what the memory held before.
    copy = at::_ops::zeros_like::call(now, {}, {}, {}, {}, {});
    masters = state.front();
    state.erase(state.begin());
  } else {
    masters = at::_ops::clone::call(now, {});
  }
  state.resize(2);
  for (const auto& p : layout.parameters()) {
    if (p.frozen) {
      continue;
    }
    const auto constants = constants_of(update_of(model, p), u.step.value, model.steps, 1.0F);
    apply_update(constants, update_tensors{.parameters = slice(masters, p.offset, p.elements),
                                           .gradients = slice(gradients, p.offset, p.elements),
                                           .first_moment = slice(state[0], p.state_offset, p.elements),
                                           .second_moment = slice(state[1], p.state_offset, p.elements),
                                           .copy = slice(copy, p.offset, p.elements)});
    if (checks_parameters(model, u.step.value) && !seems_finite(slice(masters, p.offset, p.elements))) {
      refuse_not_finite(model, p);
    }
  }
  blocks.stepped->tensor = rounded ? copy : masters;
}

}  // namespace hydra
