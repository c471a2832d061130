#include "models/exported/boundary.hpp"

#include "models/exported/boundary_layout.hpp"
#include "models/exported/value_scalar.hpp"
#include "models/scalar_type.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

namespace hydra {

namespace {

using torch::autograd::variable_list;

/// What parts, or their gradients, are in a flat buffer of bytes; undefined for a part without gradient.
std::vector<at::Tensor> views(const std::vector<graph_part>& parts, std::int64_t samples, const at::Tensor& bytes,
                              bool gradients) {
  const boundary_layout layout = lay_out(parts, samples);
  std::vector<at::Tensor> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const graph_part& p = parts[i];
    if (gradients && !p.gradient) {
      all.emplace_back();
      continue;
    }
    const at::Tensor place = bytes.narrow(0, layout.parts[i].offset, layout.parts[i].bytes).view(scalar_type(p.type));
    all.push_back(place.as_strided(evaluate(p.shape, samples), evaluate(gradients ? *p.gradient : p.strides, samples)));
  }
  return all;
}

at::Tensor bytes_of(const at::Tensor& flat) { return flat.contiguous().view({-1}).view(at::kByte); }

void clear(const at::Tensor& bytes, std::int64_t begin, std::int64_t end) {
  if (begin < end) bytes.narrow(0, begin, end - begin).zero_();
}

/// All that is not a value's: padding, and the places of undefined values.
void clear_rest(const boundary_layout& layout, const std::vector<at::Tensor>& places,
                const std::vector<at::Tensor>& values, const at::Tensor& bytes) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!places[i].defined() || !values[i].defined()) continue;
    clear(bytes, end, layout.parts[i].offset);
    end = layout.parts[i].offset + layout.parts[i].bytes;
  }
  clear(bytes, end, bytes.numel());
}

/// The memory of a single value that fills the buffer, and nothing else, as that buffer; undefined if it has to be
/// copied.
at::Tensor memory_of(const std::vector<graph_part>& parts, std::int64_t samples, const std::vector<at::Tensor>& values,
                     bool gradients) {
  if (parts.size() != 1 || !values[0].defined()) return {};
  const at::Tensor& x = values[0];
  const tensor_spec spec = boundary_spec(parts, samples);
  const std::vector<std::int64_t> strides = evaluate(gradients ? *parts[0].gradient : parts[0].strides, samples);
  const bool fills = x.nbytes() == spec.bytes().value() && x.storage().nbytes() == x.nbytes();
  if (!fills || x.strides() != c10::IntArrayRef{strides}) return {};
  return x.detach().as_strided({x.numel()}, {1}).view(scalar_type(spec.type)).view(spec.shape);
}

/// Undefined values are zeros.
at::Tensor flat_of(const std::vector<graph_part>& parts, std::int64_t samples, const std::vector<at::Tensor>& values,
                   const at::TensorOptions& like, bool gradients) {
  const at::NoGradGuard none;
  const tensor_spec spec = boundary_spec(parts, samples);
  const at::Tensor flat = at::empty(spec.shape, like.dtype(scalar_type(spec.type)).requires_grad(false));
  const at::Tensor bytes = bytes_of(flat);
  const std::vector<at::Tensor> places = views(parts, samples, bytes, gradients);
  clear_rest(lay_out(parts, samples), places, values, bytes);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (places[i].defined() && values[i].defined()) places[i].copy_(values[i]);
  return flat;
}

/// Flat values -> values; gradients of these -> flat gradient.
struct opening : torch::autograd::Node {
  graph_parts parts;
  std::int64_t samples = 0;
  at::TensorOptions like;

  variable_list apply(variable_list&& gradients) override {
    const at::NoGradGuard none;
    const at::Tensor same = (*parts)[0].gradient ? memory_of(*parts, samples, gradients, true) : at::Tensor{};
    return {same.defined() ? same : flat_of(*parts, samples, gradients, like, true)};
  }
};

/// Values -> flat values; flat gradient -> their gradients.
struct closing : torch::autograd::Node {
  graph_parts parts;
  std::int64_t samples = 0;

  variable_list apply(variable_list&& gradients) override {
    if (!gradients.at(0).defined()) return variable_list(parts->size());
    const at::NoGradGuard none;
    variable_list all = views(*parts, samples, bytes_of(gradients[0]), true);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!task_should_compute_output(i)) all[i] = at::Tensor{};
    }
    return all;
  }
};

}  // namespace

tensor_spec boundary_spec(const std::vector<graph_part>& parts, std::int64_t samples) {
  const auto width = static_cast<std::int64_t>(width_of(element::bits));
  const std::int64_t bytes = lay_out(parts, samples).bytes, row = samples * width;
  return {{samples, bytes / row + (bytes % row == 0 ? 0 : 1)}, element::bits};
}

at::Tensor close_boundary(const graph_parts& parts, std::int64_t samples, const std::vector<at::Tensor>& values,
                          bool may_share) {
  at::Tensor flat;
  if (may_share) {
    const at::NoGradGuard none;
    flat = memory_of(*parts, samples, values, false);
  }
  if (!flat.defined()) flat = flat_of(*parts, samples, values, values.at(0).options(), false);
  if (!at::GradMode::is_enabled() || !torch::autograd::compute_requires_grad(values)) return flat;
  const std::shared_ptr<closing> node{new closing, torch::autograd::deleteNode};
  node->parts = parts;
  node->samples = samples;
  node->set_next_edges(torch::autograd::collect_next_edges(values));
  torch::autograd::set_history(flat, node);
  return flat;
}

std::vector<at::Tensor> open_boundary(const graph_parts& parts, std::int64_t samples, const at::Tensor& flat) {
  std::vector<at::Tensor> values;
  {
    const at::NoGradGuard none;
    for (const at::Tensor& view : views(*parts, samples, bytes_of(flat.detach()), false))
      values.push_back(view.variable_data());
  }
  if (!at::GradMode::is_enabled() || !flat.requires_grad()) return values;
  const std::shared_ptr<opening> node{new opening, torch::autograd::deleteNode};
  node->parts = parts;
  node->samples = samples;
  node->like = flat.options();
  node->set_next_edges(torch::autograd::collect_next_edges(flat));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((*parts)[i].gradient)
      torch::autograd::set_history(values[i], node);
    else
      node->add_input_metadata(torch::autograd::Node::undefined_input{});
  }
  return values;
}

at::Tensor with_strides(const at::Tensor& x, const std::vector<std::int64_t>& strides) {
  if (x.strides() == c10::IntArrayRef{strides}) return x;
  return at::empty_strided(x.sizes(), strides, x.options()).copy_(x);
}

}  // namespace hydra
