#pragma once
// The last layer of a convolutional network.

#include "models/layer.hpp"

namespace hydra {

struct pooled_head_options {
  std::int64_t in = 0;   ///< channels
  std::int64_t out = 0;  ///< classes
};

/// f32[samples, in, height, width] -> f32[samples, out]: the mean of each channel, then a linear layer. Initial values
/// as torch's nn.Linear: uniform in +-1/sqrt(in).
class pooled_head final : public layer {
 public:
  explicit pooled_head(const pooled_head_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  pooled_head_options options_;
};

}  // namespace hydra
