#pragma once
// A vision transformer's block: attention and a feed-forward network, each after a norm and with a residual connection.

#include "models/layer.hpp"
#include "models/layers/activation.hpp"

namespace hydra {

struct vit_block_options {
  std::int64_t width = 0;
  std::int64_t heads = 0;   ///< divides width
  std::int64_t hidden = 0;  ///< units of the feed-forward network
  activation act = activation::gelu;
  bool qkv_bias = true;
  double dropout = 0;            ///< of the attention's and of the network's output
  double attention_dropout = 0;  ///< of the attention's probabilities
  double eps = 1e-12;
};

/// f32[samples, tokens, width] -> the same: pre-LN (Dosovitskiy et al. 2020). Names as in Hugging Face's checkpoints
/// after "vit.encoder.layer.{i}.".
class vit_block final : public layer {
 public:
  explicit vit_block(const vit_block_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  at::Tensor project(std::span<const at::Tensor> parameters, std::size_t which, const at::Tensor& x,
                     const layer_context& context) const;

  vit_block_options options_;
};

}  // namespace hydra
