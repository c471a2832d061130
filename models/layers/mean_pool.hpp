#pragma once
// From the pixels of a convolutional network to what dense layers take.

#include "models/layer.hpp"

namespace hydra {

/// f32[samples, channels, height, width] -> f32[samples, channels]: the mean of each channel. No parameters.
class mean_pool final : public layer {
 public:
  explicit mean_pool(std::int64_t channels);

  std::vector<parameter_spec> parameters() const override { return {}; }
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  std::int64_t channels_;
};

}  // namespace hydra
