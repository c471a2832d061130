#pragma once
// A vision transformer's block: attention and a feed-forward network, each after a norm and with a residual connection.

#include "models/layer.hpp"
#include "models/layers/encoder_parts.hpp"

namespace hydra {

using vit_block_options = encoder_form;

/// f32[samples, tokens, width] -> the same: pre-LN (Dosovitskiy et al. 2020). Names as in Hugging Face's checkpoints
/// after "vit.encoder.layer.{i}.".
class vit_block final : public layer {
 public:
  explicit vit_block(const vit_block_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::vector<chain_part> in_pieces(const division& into) const override;
  std::string signature() const override;

 private:
  vit_block_options options_;
};

}  // namespace hydra
