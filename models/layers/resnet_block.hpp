#pragma once
// The residual layer of a ResNet (He et al. 2016, figure 5), version 1.5: the 3x3 convolution of a bottleneck strides.

#include "models/layer.hpp"
#include "models/layers/normed_convolution.hpp"

namespace hydra {

struct resnet_block_options {
  std::int64_t in = 0;  ///< channels
  std::int64_t out = 0;
  std::int64_t stride = 1;      ///< 2 halves height and width
  bool bottleneck = true;       ///< 1x1, 3x3, 1x1 over out / 4 channels; else 3x3, 3x3
  bool stride_at_once = false;  ///< of a bottleneck: its first convolution has the stride (version 1)
};

/// f32[samples, in, height, width] -> f32[samples, out, ceil(height / stride), ceil(width / stride)]: convolutions,
/// each with batch norm, with ReLU between them, plus the input or, where the shapes differ, its 1x1 convolution with
/// batch norm, and ReLU. Parameters "layer.{j}." and "shortcut.".
class resnet_block final : public layer {
 public:
  explicit resnet_block(const resnet_block_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  bool projects() const noexcept { return options_.in != options_.out || options_.stride != 1; }

  resnet_block_options options_;
  std::vector<normed_convolution> path_;
  normed_convolution shortcut_;
};

}  // namespace hydra
