#pragma once
// The first layer of a convolutional network.

#include "models/layer.hpp"
#include "models/layers/convolution.hpp"

namespace hydra {

struct convolution_stem_options {
  std::int64_t in = 0;  ///< channels of an image
  std::int64_t out = 0;
  std::int64_t groups = 1;  ///< of the norm; divide out
};

/// f32[samples, in, height, width] -> f32[samples, out, height, width]: 3x3 convolution, group norm, ReLU.
class convolution_stem final : public layer {
 public:
  explicit convolution_stem(const convolution_stem_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  convolution_stem_options options_;
  convolution_shape shape_;
};

}  // namespace hydra
