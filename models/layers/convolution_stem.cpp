#include "models/layers/convolution_stem.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/norms.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/relu_ops.h>
#include <fmt/format.h>

namespace hydra {

convolution_stem::convolution_stem(const convolution_stem_options& options)
    : options_(options), shape_{.in = options.in, .out = options.out} {
  require_positive("convolution stem: in", options.in);
  require_positive("convolution stem: out", options.out);
  require_groups("convolution stem", options.groups, options.out);
}

std::vector<parameter_spec> convolution_stem::parameters() const {
  return {convolution_weight("conv.weight", shape_),
          {"norm.weight", {options_.out}, {initial_value::kind::constant, 1}, {}},
          {"norm.bias", {options_.out}, {}, {}}};
}

tensor_spec convolution_stem::output(const tensor_spec& input) const {
  require_images("convolution stem", input, options_.in);
  return {{input.shape[0], options_.out, input.shape[2], input.shape[3]}, element::f32};
}

at::Tensor convolution_stem::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                     const layer_context&) const {
  const at::Tensor y = convolve(input, parameters[0], shape_);
  return at::_ops::relu::call(group_norm(y, options_.groups, parameters[1], parameters[2]));
}

std::string convolution_stem::signature() const {
  return fmt::format("convolution stem in={} out={} groups={}", options_.in, options_.out, options_.groups);
}

}  // namespace hydra
