#pragma once
// First layer of a vision transformer: a class token followed by the patches of an image.

#include "models/layer.hpp"

namespace hydra {

struct vit_embedding_options {
  std::int64_t channels = 3;
  std::int64_t height = 0, width = 0;  ///< of an image, in pixels: multiples of patch
  std::int64_t patch = 16;             ///< side of a square patch, in pixels
  std::int64_t features = 0;           ///< of a token
  double dropout = 0;

  std::int64_t patches() const noexcept { return height / patch * (width / patch); }
};

/// f32[samples, channels, height, width] -> f32[samples, 1 + patches, features]: the class token, then the patches row
/// by row. A convolution whose stride equals its kernel is a linear map of each patch, and is computed as one.
class vit_embedding final : public layer {
 public:
  explicit vit_embedding(const vit_embedding_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  at::Tensor patches_of(const at::Tensor& images) const;

  vit_embedding_options options_;
};

}  // namespace hydra
