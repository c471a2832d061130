#pragma once
// Last layer of a BERT that classifies texts.

#include "models/layer.hpp"

namespace hydra {

struct bert_classifier_options {
  std::int64_t width = 0;
  std::int64_t classes = 0;
  double dropout = 0;  ///< of the pooled vector
};

/// Masked tokens f32[samples, tokens, width + 1] (masked_tokens.hpp) -> f32[samples, classes]: the first token's
/// vector, pooled (a linear map and tanh), then classified.
class bert_classifier final : public layer {
 public:
  explicit bert_classifier(const bert_classifier_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  bert_classifier_options options_;
};

}  // namespace hydra
