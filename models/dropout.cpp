#include "models/dropout.hpp"

#include "models/random.hpp"
#include "runtime/fault.hpp"

#include <ATen/ops/empty_like_ops.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

namespace hydra {
namespace {

/// The mask is never stored: forward and backward both derive it from the key.
at::Tensor masked(const at::Tensor& input, double p, std::uint64_t key) {
  const at::Tensor source = input.contiguous();
  at::Tensor result = at::_ops::empty_like::call(source, {}, {}, {}, {}, {});
  const float* from = source.const_data_ptr<float>();
  float* to = result.mutable_data_ptr<float>();
  const auto scale = static_cast<float>(1 / (1 - p));
  const auto dropped = static_cast<std::uint64_t>(std::ceil(p * 0x1.0p53));  // random_uniform(...) < p in integers
  const auto n = static_cast<std::uint64_t>(source.numel());
  for (std::uint64_t i = 0; i < n; ++i) to[i] = random_bits(key, i) >> 11 < dropped ? 0.0f : from[i] * scale;
  return result;
}

struct dropout_function : torch::autograd::Function<dropout_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input, double p,
                            std::int64_t key) {
    context->saved_data["p"] = p;
    context->saved_data["key"] = key;
    return masked(input, p, static_cast<std::uint64_t>(key));
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const auto key = static_cast<std::uint64_t>(context->saved_data["key"].toInt());
    return {masked(upstream[0], context->saved_data["p"].toDouble(), key), {}, {}};
  }
};

}  // namespace

std::uint64_t dropout_key(const layer_context& context, std::uint32_t site) noexcept {
  return random_key({context.seed, context.step, context.micro_batch, context.layer, site});
}

at::Tensor keyed_dropout(const at::Tensor& input, double p, const layer_context& context, std::uint32_t site) {
  if (p == 0 || !context.training) return input;
  if (!input.is_cpu() || input.scalar_type() != at::kFloat)
    throw fault_error{fault_code::internal, "keyed dropout is written for fp32 on CPU"};
  return dropout_function::apply(input, p, static_cast<std::int64_t>(dropout_key(context, site)));
}

}  // namespace hydra
