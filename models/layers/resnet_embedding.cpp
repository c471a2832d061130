#include "models/layers/resnet_embedding.hpp"

#include "models/layers/checks.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/max_pool2d_ops.h>
#include <ATen/ops/relu_ops.h>
#include <fmt/format.h>

#include <array>

namespace hydra {
namespace {

constexpr convolution_shape pool{.kernel = 3, .stride = 2};  // sizes follow the same rule

/// Contiguous: where channels come last, CUDA adds the gradients of windows that overlap in an order that varies.
at::Tensor max_pool(const at::Tensor& x) {
  constexpr std::array<std::int64_t, 2> kernel{3, 3}, stride{2, 2}, padding{1, 1}, dilation{1, 1};
  return at::_ops::max_pool2d::call(x.contiguous(), kernel, stride, padding, dilation, false);
}

}  // namespace

resnet_embedding::resnet_embedding(const resnet_embedding_options& options)
    : options_(options), embedder_{{.in = options.in, .out = options.out, .kernel = 7, .stride = 2}} {
  require_positive("resnet embedding: in", options.in);
  require_positive("resnet embedding: out", options.out);
}

std::vector<parameter_spec> resnet_embedding::parameters() const {
  std::vector<parameter_spec> result;
  embedder_.add_parameters("", result);
  return result;
}

tensor_spec resnet_embedding::output(const tensor_spec& input) const {
  require_images("resnet embedding", input, options_.in);
  const auto size = [&](std::int64_t n) { return convolved_size(convolved_size(n, embedder_.shape), pool); };
  return {{input.shape[0], options_.out, size(input.shape[2]), size(input.shape[3])}, element::f32};
}

at::Tensor resnet_embedding::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                     const layer_context& context) const {
  return max_pool(at::_ops::relu::call(embedder_(input, parameters, context)));
}

std::string resnet_embedding::signature() const {
  return fmt::format("resnet embedding in={} out={}", options_.in, options_.out);
}

}  // namespace hydra
