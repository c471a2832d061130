#pragma once
// First layer of BERT: words, segments and positions, normalised.

#include "models/layer.hpp"

namespace hydra {

struct bert_embedding_options {
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;  ///< most tokens of a sample
  std::int64_t types = 2;      ///< of segments
  std::int64_t width = 0;
  std::int64_t padding = -1;  ///< id whose word vector is not trained here; negative: none
  double dropout = 0;
  double eps = 1e-12;
};

/// i64[samples, 3, tokens] = ids, segments, mask -> masked tokens f32[samples, tokens, width + 1] (masked_tokens.hpp).
class bert_embedding final : public layer {
 public:
  explicit bert_embedding(const bert_embedding_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  bert_embedding_options options_;
};

}  // namespace hydra
