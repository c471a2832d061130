#pragma once
// Last layer of a vision transformer that classifies images.

#include "models/layer.hpp"

namespace hydra {

struct vit_classifier_options {
  std::int64_t width = 0;
  std::int64_t classes = 0;
  double eps = 1e-12;
};

/// f32[samples, tokens, width] -> f32[samples, classes]: the class token, normalised, then a linear map.
class vit_classifier final : public layer {
 public:
  explicit vit_classifier(const vit_classifier_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  vit_classifier_options options_;
};

}  // namespace hydra
