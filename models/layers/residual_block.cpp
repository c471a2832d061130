#include "models/layers/residual_block.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/norms.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/relu_ops.h>
#include <fmt/format.h>

namespace hydra {
namespace {

/// Indices in parameters(); a norm's bias follows its weight.
enum parameter : std::size_t { conv1 = 0, norm1 = 1, conv2 = 3, norm2 = 4, skip = 6 };

}  // namespace

residual_block::residual_block(const residual_block_options& options)
    : options_(options),
      first_{.in = options.in, .out = options.out, .stride = options.stride},
      second_{.in = options.out, .out = options.out},
      projection_{.in = options.in, .out = options.out, .kernel = 1, .stride = options.stride} {
  require_positive("residual block: in", options.in);
  require_positive("residual block: out", options.out);
  require_positive("residual block: stride", options.stride);
  require_groups("residual block", options.groups, options.out);
}

std::vector<parameter_spec> residual_block::parameters() const {
  const initial_value zero, one{initial_value::kind::constant, 1};
  std::vector<parameter_spec> result{
      convolution_weight("conv1.weight", first_), {"norm1.weight", {options_.out}, one, {}},
      {"norm1.bias", {options_.out}, zero, {}},   convolution_weight("conv2.weight", second_),
      {"norm2.weight", {options_.out}, one, {}},  {"norm2.bias", {options_.out}, zero, {}}};
  if (projects()) result.push_back(convolution_weight("skip.weight", projection_));
  return result;
}

tensor_spec residual_block::output(const tensor_spec& input) const {
  require_images("residual block", input, options_.in);
  return {
      {input.shape[0], options_.out, convolved_size(input.shape[2], first_), convolved_size(input.shape[3], first_)},
      element::f32};
}

at::Tensor residual_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                   const layer_context&) const {
  const auto normalise = [&](const at::Tensor& x, parameter norm) {
    return group_norm(x, options_.groups, parameters[norm], parameters[norm + 1]);
  };
  const at::Tensor x = at::_ops::relu::call(normalise(convolve(input, parameters[conv1], first_), norm1));
  const at::Tensor y = normalise(convolve(x, parameters[conv2], second_), norm2);
  return at::_ops::relu::call(y.add(projects() ? convolve(input, parameters[skip], projection_) : input));
}

std::string residual_block::signature() const {
  return fmt::format("residual block in={} out={} stride={} groups={}", options_.in, options_.out, options_.stride,
                     options_.groups);
}

}  // namespace hydra
