#include "models/layers/batch_norm.hpp"

#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/native_batch_norm_backward_ops.h>
#include <ATen/ops/native_batch_norm_ops.h>
#include <ATen/ops/zeros_like_ops.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <tuple>

namespace hydra {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Indices in parameters; the arguments of the function are one further, after x.
enum parameter : std::size_t { weight, bias, running_mean, running_var };

at::Tensor room_for(const at::Tensor& statistic) { return at::_ops::zeros_like::call(statistic, {}, {}, {}, {}, {}); }

/// A function of autograd takes no undefined tensors.
at::Tensor or_filled(const at::Tensor& parameter, const at::Tensor& x, double value) {
  return parameter.defined() ? parameter : x.detach().new_full({x.size(1)}, value);
}

void require_variance(const at::Tensor& x) {
  if (x.numel() <= x.size(1))
    refuse(
        fmt::format("batch norm gets [{}]: one value of each channel has no variance; use micro-batches of more "
                    "samples, or larger images",
                    fmt::join(x.sizes(), ", ")));
}

/// What is to be added to the gradient of a running average. Backward of a micro-batch runs after that of the one
/// before it, so `average`.grad holds the sum so far.
at::Tensor movement(const at::Tensor& average, const at::Tensor& statistic, double momentum) {
  const at::Tensor next = statistic.mul(momentum);
  return average.grad().defined() ? next.sub(average.grad().mul(momentum)) : next;
}

struct batch_norm_function : torch::autograd::Function<batch_norm_function> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& scale,
                            const at::Tensor& shift, const at::Tensor& average_mean, const at::Tensor& average_variance,
                            double momentum, double eps) {
    const at::Tensor mean = room_for(average_mean), variance = room_for(average_variance);
    const auto [y, saved_mean, saved_deviation] =
        at::_ops::native_batch_norm::call(x, scale, shift, mean, variance, true, 1.0, eps);  // 1: the batch's own
    context->saved_data["momentum"] = momentum;
    context->saved_data["eps"] = eps;
    context->saved_data["average_mean"] = average_mean;  // what is saved for a backward has no gradient
    context->saved_data["average_variance"] = average_variance;
    context->save_for_backward({x, scale, saved_mean, saved_deviation, mean, variance});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const auto [x, scale, mean, deviation] = std::tie(saved[0], saved[1], saved[2], saved[3]);
    const std::array<bool, 3> wanted{context->needs_input_grad(0), context->needs_input_grad(1),
                                     context->needs_input_grad(2)};
    const auto [of_x, of_scale, of_shift] = at::_ops::native_batch_norm_backward::call(
        upstream[0], x, scale, {}, {}, mean, deviation, true, context->saved_data["eps"].toDouble(), wanted);
    const double momentum = context->saved_data["momentum"].toDouble();
    const auto moved = [&](const char* average, const at::Tensor& statistic) {
      return movement(context->saved_data[average].toTensor(), statistic, momentum);
    };
    return {of_x, of_scale, of_shift, moved("average_mean", saved[4]), moved("average_variance", saved[5]), {}, {}};
  }
};

}  // namespace

std::vector<parameter_spec> batch_norm_parameters(const std::string& prefix, std::int64_t channels) {
  const initial_value zero, one{initial_value::kind::constant, 1};
  return {{prefix + "weight", {channels}, one, {}},
          {prefix + "bias", {channels}, zero, {}},
          {prefix + "running_mean", {channels}, zero, {}, batch_norm_numbers{}.momentum},
          {prefix + "running_var", {channels}, one, {}, batch_norm_numbers{}.momentum}};
}

at::Tensor batch_norm(const at::Tensor& x, std::span<const at::Tensor> parameters, const layer_context& context,
                      const batch_norm_numbers& numbers) {
  const at::Tensor& mean = parameters[running_mean];
  if (!context.training && mean.defined()) {
    return std::get<0>(at::_ops::native_batch_norm::call(x, parameters[weight], parameters[bias], mean.detach(),
                                                         parameters[running_var].detach(), false, numbers.momentum,
                                                         numbers.eps));
  }
  require_variance(x);
  return batch_norm_function::apply(x, or_filled(parameters[weight], x, 1), or_filled(parameters[bias], x, 0),
                                    or_filled(mean, x, 0), or_filled(parameters[running_var], x, 1), numbers.momentum,
                                    numbers.eps);
}

}  // namespace hydra
