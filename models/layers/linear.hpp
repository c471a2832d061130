#pragma once
// A dense layer, with GELU and dropout if it is a hidden layer.

#include "models/layer.hpp"

namespace hydra {

struct linear_options {
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool gelu = false;
  double dropout = 0;
};

/// f32[samples, in] -> f32[samples, out]. Weight [out, in]; initial values as torch's nn.Linear: uniform in
/// [-1/sqrt(in), 1/sqrt(in)].
class linear final : public layer {
 public:
  explicit linear(const linear_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  /// By outputs, if it is a hidden layer.
  std::vector<chain_part> in_pieces(const division& into) const override;
  std::string signature() const override;

 private:
  linear_options options_;
};

}  // namespace hydra
