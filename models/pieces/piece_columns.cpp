#include "models/pieces/piece_columns.hpp"

#include <ATen/core/IListRef.h>
#include <ATen/ops/cat_ops.h>
#include <ATen/ops/clone_ops.h>
#include <torch/csrc/autograd/custom_function.h>

namespace hydra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// One function, because autograd would add the gradients of narrowed views in an order of its own.
struct split_function : torch::autograd::Function<split_function> {
  static variable_list forward(AutogradContext*, const at::Tensor& boundary, const std::vector<std::int64_t>& widths) {
    variable_list parts;
    std::int64_t first = 0;
    for (const std::int64_t n : widths) {
      parts.push_back(boundary.narrow(-1, first, n).contiguous());
      first += n;
    }
    return parts;
  }
  static variable_list backward(AutogradContext*, const variable_list& upstream) {
    return {at::_ops::cat::call(at::TensorList{upstream}, -1), {}};
  }
};

/// The gradient of each part is a tensor of its own, as that of a part that is computed elsewhere: with the strides of
/// the whole, products of it may have other bits.
struct join_function : torch::autograd::Function<join_function> {
  static at::Tensor forward(AutogradContext* context, at::TensorList parts) {
    std::vector<std::int64_t> widths;
    for (const at::Tensor& t : parts) widths.push_back(t.size(-1));
    context->saved_data["widths"] = widths;
    return at::_ops::cat::call(parts, -1);
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    return split_function::forward(nullptr, upstream[0], context->saved_data["widths"].toIntVector());
  }
};

struct pass_function : torch::autograd::Function<pass_function> {
  static variable_list forward(AutogradContext*, const at::Tensor& values) {
    return {values.view(values.sizes()), values.view(values.sizes())};
  }
  static variable_list backward(AutogradContext*, const variable_list& upstream) {
    return {upstream[0].add(upstream[1])};
  }
};

}  // namespace

std::vector<at::Tensor> split_columns(const at::Tensor& boundary, const std::vector<std::int64_t>& widths) {
  return split_function::apply(boundary, widths);
}

at::Tensor join_columns(std::initializer_list<at::Tensor> parts) {
  std::vector<at::Tensor> there;
  for (const at::Tensor& t : parts)
    if (t.defined()) there.push_back(t);
  return joined_columns(there);
}

at::Tensor joined_columns(std::span<const at::Tensor> parts) {
  return join_function::apply(at::TensorList{parts.data(), parts.size()});
}

at::Tensor sum_of_terms(std::span<const at::Tensor> terms) {
  const at::Tensor sum = at::_ops::clone::call(terms.front(), std::nullopt);
  for (const at::Tensor& t : terms.subspan(1)) sum.narrow(-1, 0, t.size(-1)).add_(t);
  return sum;
}

passed_on pass_on(const at::Tensor& values) {
  variable_list both = pass_function::apply(values);
  return {both[0], both[1]};
}

}  // namespace hydra
