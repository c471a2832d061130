#pragma once
// The block of a residual convolutional network (He et al. 2016, figure 2, with group norm).

#include "models/layer.hpp"
#include "models/layers/convolution.hpp"

namespace hydra {

struct residual_block_options {
  std::int64_t in = 0;  ///< channels
  std::int64_t out = 0;
  std::int64_t stride = 1;  ///< of the first convolution; 2 halves height and width
  std::int64_t groups = 1;  ///< of the norms; divide out
};

/// f32[samples, in, height, width] -> f32[samples, out, ceil(height / stride), ceil(width / stride)]:
/// relu(norm2(conv2(relu(norm1(conv1(x))))) + skip), 3x3 convolutions; the skip is x itself or, where the shapes
/// differ, its 1x1 convolution of the same stride.
class residual_block final : public layer {
 public:
  explicit residual_block(const residual_block_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  bool projects() const noexcept { return options_.in != options_.out || options_.stride != 1; }

  residual_block_options options_;
  convolution_shape first_, second_, projection_;
};

}  // namespace hydra
