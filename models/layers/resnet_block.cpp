#include "models/layers/resnet_block.hpp"

#include "models/layers/checks.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/relu_ops.h>
#include <fmt/format.h>

namespace hydra {
namespace {

constexpr std::int64_t reduction = 4;  ///< of the channels within a bottleneck

std::vector<normed_convolution> path_of(const resnet_block_options& o) {
  if (!o.bottleneck) return {{{.in = o.in, .out = o.out, .stride = o.stride}}, {{.in = o.out, .out = o.out}}};
  const std::int64_t narrow = o.out / reduction;
  return {{{.in = o.in, .out = narrow, .kernel = 1, .stride = o.stride_at_once ? o.stride : 1}},
          {{.in = narrow, .out = narrow, .stride = o.stride_at_once ? 1 : o.stride}},
          {{.in = narrow, .out = o.out, .kernel = 1}}};
}

}  // namespace

resnet_block::resnet_block(const resnet_block_options& options)
    : options_(options),
      path_(path_of(options)),
      shortcut_{{.in = options.in, .out = options.out, .kernel = 1, .stride = options.stride}} {
  require_positive("resnet block: in", options.in);
  require_positive("resnet block: out", options.out);
  require_positive("resnet block: stride", options.stride);
  if (options.bottleneck) require_groups("resnet bottleneck", reduction, options.out);
}

std::vector<parameter_spec> resnet_block::parameters() const {
  std::vector<parameter_spec> result;
  for (std::size_t j = 0; j < path_.size(); ++j) path_[j].add_parameters(fmt::format("layer.{}.", j), result);
  if (projects()) shortcut_.add_parameters("shortcut.", result);
  return result;
}

tensor_spec resnet_block::output(const tensor_spec& input) const {
  require_images("resnet block", input, options_.in);
  const auto size = [&](std::int64_t n) { return convolved_size(n, shortcut_.shape); };
  return {{input.shape[0], options_.out, size(input.shape[2]), size(input.shape[3])}, element::f32};
}

at::Tensor resnet_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                 const layer_context& context) const {
  constexpr std::size_t each = normed_convolution::parameters;
  at::Tensor x = input;
  for (std::size_t j = 0; j < path_.size(); ++j) {
    if (j > 0) x = at::_ops::relu::call(x);
    x = path_[j](x, parameters.subspan(j * each), context);
  }
  const at::Tensor skip = projects() ? shortcut_(input, parameters.subspan(path_.size() * each), context) : input;
  return at::_ops::relu::call(x.add(skip));
}

std::string resnet_block::signature() const {
  return fmt::format("resnet {} in={} out={} stride={}{}", options_.bottleneck ? "bottleneck" : "basic block",
                     options_.in, options_.out, options_.stride, options_.stride_at_once ? " at once" : "");
}

}  // namespace hydra
