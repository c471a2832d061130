#include "models/layer_values.hpp"

#include "models/frozen/base_encoding.hpp"
#include "models/scalar_type.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_ops.h>

#include <utility>

namespace hydra {
namespace {

/// A tensor of that shape whose storage is empty until a layer computes with it.
at::Tensor without_memory(const std::vector<std::int64_t>& shape, element type, const at::Tensor& beside) {
  const at::Tensor t = at::_ops::empty_memory_format::call(c10::SymIntArrayRef{c10::SymInt(0)}, scalar_type(type), {},
                                                           beside.device(), {}, {});
  t.unsafeGetTensorImpl()->set_sizes_contiguous(shape);
  return t;
}

void give_memory(const at::Tensor& t) {
  c10::StorageImpl& storage = *t.storage().unsafeGetStorageImpl();
  const std::size_t bytes = static_cast<std::size_t>(t.numel()) * t.element_size();
  storage.set_data_ptr_noswap(storage.allocator()->allocate(bytes));
  storage.set_nbytes(bytes);
}

void take_memory(const at::Tensor& t) {
  c10::StorageImpl& storage = *t.storage().unsafeGetStorageImpl();
  storage.set_data_ptr_noswap(at::DataPtr{nullptr, t.device()});
  storage.set_nbytes(0);
}

}  // namespace

layer_values::layer_values(const parameter_layout& layout, const at::Tensor& flat, const at::Tensor& base,
                           std::size_t layer)
    : parameters{layout.views(flat, layer)}, frozen(parameters.size()) {
  for (std::size_t i = 0; i < parameters.size(); ++i) frozen[i] = !parameters[i].defined();
  if (!base.defined()) return;
  auto value = parameters.begin();
  for (const placed_parameter& p : layout.parameters()) {
    if (p.layer != layer) continue;
    at::Tensor& to = *value++;
    if (!p.frozen) continue;
    const std::size_t bytes = stored_bytes(p.stored, layout.numbers(), p.elements);
    const at::Tensor stored = base.narrow(0, static_cast<std::int64_t>(p.offset), static_cast<std::int64_t>(bytes));
    if (p.stored == base_format::as_computed) {
      to = stored.view(scalar_type(layout.type())).view(p.shape);
    } else {
      to = without_memory(p.shape, layout.type(), base);
      widened.push_back({p.stored, stored, to});
    }
  }
}

void widening::hold(const std::vector<widened_parameter>& parameters) {
  for (const widened_parameter& p : held_) take_memory(p.values);
  held_ = parameters;
  for (const widened_parameter& p : held_) {
    give_memory(p.values);
    widen(p.format, p.stored, p.values.variable_data());  // saved for a backward, which has seen no change
  }
}

at::Tensor compute_layer(const chain& model, std::size_t i, const layer_values& values, const at::Tensor& x,
                         const layer_context& context, const std::shared_ptr<widening>& memory) {
  memory->hold(values.widened);
  const at::Tensor y = model.forward(i, values.parameters, x, context);
  memory->release();
  if (y.requires_grad() && model.base() != base_format::as_computed)
    y.register_hook([memory, widened = values.widened](const at::Tensor&) { memory->hold(widened); });
  return y;
}

at::Tensor compute_layer_forward(const chain& model, std::size_t i, const layer_values& values, const at::Tensor& x,
                                 const layer_context& context, const std::shared_ptr<widening>& memory) {
  const bool depends = model.at(i).body->depends_on_gradients();
  const at::AutoGradMode with_grad{depends && context.training};
  if (!depends) return compute_layer(model, i, values, x, context, memory);
  layer_values leaves = values;
  for (std::size_t p = 0; p < leaves.parameters.size(); ++p)
    if (leaves.parameters[p].defined())
      leaves.parameters[p] = leaves.parameters[p].detach().set_requires_grad(!leaves.frozen[p]);
  const at::Tensor y = compute_layer(model, i, leaves, x, context, memory);
  return y.detach().set_requires_grad(y.requires_grad());
}

}  // namespace hydra
