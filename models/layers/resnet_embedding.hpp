#pragma once
// The first layer of a ResNet.

#include "models/layer.hpp"
#include "models/layers/normed_convolution.hpp"

namespace hydra {

struct resnet_embedding_options {
  std::int64_t in = 0;  ///< channels of an image
  std::int64_t out = 0;
};

/// f32[samples, in, height, width] -> f32[samples, out, ceil(height / 4), ceil(width / 4)]: 7x7 convolution of stride
/// 2, batch norm, ReLU, 3x3 maximum of stride 2.
class resnet_embedding final : public layer {
 public:
  explicit resnet_embedding(const resnet_embedding_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  resnet_embedding_options options_;
  normed_convolution embedder_;
};

}  // namespace hydra
