#include "models/pieces/token_columns.hpp"

#include "models/pieces/piece_columns.hpp"

#include <ATen/core/IListRef.h>
#include <ATen/ops/cat_ops.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>

namespace hydra {
namespace {

at::Tensor split_number(const at::Tensor& numbers, at::ScalarType type) {
  const at::Tensor high = numbers.to(at::kBFloat16), left = numbers.sub(high.to(at::kFloat));
  const at::Tensor middle = left.to(at::kBFloat16), low = left.sub(middle.to(at::kFloat));
  const std::array parts{high.to(type), middle.to(type), low.to(type)};
  return at::_ops::cat::call(at::TensorList{parts}, numbers.dim() - 1);
}

at::Tensor add_parts(const at::Tensor& columns) {
  const std::int64_t last = columns.dim() - 1, n = columns.size(last) / columns_of_number;
  const at::Tensor parts = columns.to(at::kFloat);
  return parts.narrow(last, 0, n).add(parts.narrow(last, n, n)).add(parts.narrow(last, 2 * n, n));
}

struct to_columns_function : torch::autograd::Function<to_columns_function> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& numbers, std::int64_t type) {
    return split_number(numbers, static_cast<at::ScalarType>(type));
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& upstream) {
    return {add_parts(upstream[0]), {}};
  }
};

struct from_columns_function : torch::autograd::Function<from_columns_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& columns) {
    context->saved_data["type"] = static_cast<std::int64_t>(columns.scalar_type());
    return add_parts(columns);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    return {split_number(upstream[0], static_cast<at::ScalarType>(context->saved_data["type"].toInt()))};
  }
};

}  // namespace

at::Tensor to_columns(const at::Tensor& numbers, at::ScalarType type) {
  return to_columns_function::apply(numbers, static_cast<std::int64_t>(type));
}

at::Tensor from_columns(const at::Tensor& columns) { return from_columns_function::apply(columns); }

token_columns open_tokens(const at::Tensor& input, std::int64_t width) {
  const std::int64_t behind = input.size(2) - width;
  if (behind == 0) return {.vectors = input, .rest = {}};
  return {.vectors = input.narrow(2, 0, width).contiguous(), .rest = input.detach().narrow(2, width, behind)};
}

at::Tensor starts_in(const at::Tensor& rest, bool targets) {
  const std::int64_t columns = rest.defined() ? rest.size(2) : 0;
  return columns > columns_of_targets(targets) ? rest.select(2, 0) : at::Tensor{};
}

at::Tensor targets_in(const at::Tensor& rest) {
  return add_parts(rest.narrow(2, rest.size(2) - columns_of_number, columns_of_number)).squeeze(2).to(at::kLong);
}

at::Tensor close_tokens(const at::Tensor& vectors, const at::Tensor& rest) {
  if (!rest.defined()) return vectors;
  return join_columns({vectors, rest});
}

}  // namespace hydra
