#pragma once
// BERT's block: attention and a feed-forward network, each followed by the norm of its sum with its input.

#include "models/layer.hpp"
#include "models/layers/encoder_parts.hpp"

namespace hydra {

using bert_block_options = encoder_form;

/// Masked tokens f32[samples, tokens, width + 1] (masked_tokens.hpp) -> the same: post-LN (Devlin et al. 2018). Names
/// as in Hugging Face's checkpoints after "bert.encoder.layer.{i}.".
class bert_block final : public layer {
 public:
  explicit bert_block(const bert_block_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::vector<chain_part> in_pieces(const division& into) const override;
  std::string signature() const override;

 private:
  bert_block_options options_;
};

}  // namespace hydra
