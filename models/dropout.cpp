#include "models/dropout.hpp"

#include "models/keyed_mask.hpp"
#include "models/random.hpp"

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>

namespace hydra {
namespace {

/// The mask is never stored: forward and backward both compute it.
struct dropout_function : torch::autograd::Function<dropout_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input, double p,
                            std::int64_t key) {
    context->saved_data["p"] = p;
    context->saved_data["key"] = key;
    return keyed_mask(input, p, static_cast<std::uint64_t>(key));
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const auto key = static_cast<std::uint64_t>(context->saved_data["key"].toInt());
    return {keyed_mask(upstream[0], context->saved_data["p"].toDouble(), key), {}, {}};
  }
};

}  // namespace

std::uint64_t dropout_key(const layer_context& context, std::uint32_t site) noexcept {
  return random_key({context.seed, context.step, context.micro_batch, context.layer, site});
}

at::Tensor keyed_dropout(const at::Tensor& input, double p, const layer_context& context, std::uint32_t site) {
  if (p == 0 || !context.training) return input;
  return dropout_function::apply(input, p, static_cast<std::int64_t>(dropout_key(context, site)));
}

}  // namespace hydra
