#pragma once
// Last layer of a BERT that predicts masked tokens.

#include "models/layer.hpp"
#include "models/layers/activation.hpp"

namespace hydra {

struct bert_masked_lm_head_options {
  std::int64_t vocabulary = 0;
  std::int64_t width = 0;
  activation act = activation::gelu;
  double eps = 1e-12;
  std::string tied_to{};  ///< full name of the word embeddings' weight
};

/// Masked tokens f32[samples, tokens, width + 1] (masked_tokens.hpp) -> logits f32[samples, tokens, vocabulary]. Its
/// bias is Hugging Face's "cls.predictions.bias", which is also named "cls.predictions.decoder.bias" there.
class bert_masked_lm_head final : public layer {
 public:
  explicit bert_masked_lm_head(bert_masked_lm_head_options options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  bool is_row_wise() const override { return true; }
  std::string signature() const override;

 private:
  bert_masked_lm_head_options options_;
};

}  // namespace hydra
