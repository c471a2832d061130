#include "models/dropout.hpp"

#include "models/random.hpp"
#include "models/vector_clones.hpp"
#include "runtime/fault.hpp"

#include <ATen/ops/empty_like_ops.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

namespace hydra {
namespace {

/// The mask of one application. It is never stored: forward and backward both derive it.
struct mask {
  std::uint64_t key;
  std::uint64_t dropped;  ///< random_uniform < p, in integers: the 53 bits are below this
  float scale;
};

HYDRA_VECTOR_CLONES void mask_loop(const mask& m, std::size_t n, const float* __restrict from, float* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) {
    const float scaled = from[i] * m.scale;
    to[i] = random_bits(m.key, i) >> 11 < m.dropped ? 0.0f : scaled;
  }
}

/// The same mask; products in fp32, rounded once.
HYDRA_VECTOR_CLONES void mask_loop(const mask& m, std::size_t n, const c10::BFloat16* __restrict from,
                                   c10::BFloat16* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) {
    const float scaled = static_cast<float>(from[i]) * m.scale;
    to[i] = random_bits(m.key, i) >> 11 < m.dropped ? c10::BFloat16{0.0f} : c10::BFloat16{scaled};
  }
}

template <class Number>
void mask_into(const mask& m, const at::Tensor& source, at::Tensor& result) {
  mask_loop(m, static_cast<std::size_t>(source.numel()), source.const_data_ptr<Number>(),
            result.mutable_data_ptr<Number>());
}

at::Tensor masked(const at::Tensor& input, double p, std::uint64_t key) {
  const at::Tensor source = input.contiguous();
  at::Tensor result = at::_ops::empty_like::call(source, {}, {}, {}, {}, {});
  const mask m{key, static_cast<std::uint64_t>(std::ceil(p * 0x1.0p53)), static_cast<float>(1 / (1 - p))};
  if (source.scalar_type() == at::kBFloat16)
    mask_into<c10::BFloat16>(m, source, result);
  else
    mask_into<float>(m, source, result);
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
  const bool known = input.scalar_type() == at::kFloat || input.scalar_type() == at::kBFloat16;
  if (!input.is_cpu() || !known)
    throw fault_error{fault_code::internal, "keyed dropout is written for fp32 and bf16 on CPU"};
  return dropout_function::apply(input, p, static_cast<std::int64_t>(dropout_key(context, site)));
}

}  // namespace hydra
