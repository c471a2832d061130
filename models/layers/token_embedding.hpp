#pragma once
// Token embeddings without positions.

#include "models/layer.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hydra {

struct token_embedding_options {
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;  ///< maximum length of a sample
  std::int64_t width = 0;
  double scale = 1;           ///< of the vectors
  std::int64_t padding = -1;  ///< id whose vector is not trained here; negative: none
};

/// i64[samples, tokens] -> f32[samples, tokens, width]: scale * embed_tokens.weight[id]. Of samples that hold several
/// records: i64[samples, 2, tokens] -> f32[samples, tokens, width + 1] (packed_tokens.hpp).
class token_embedding final : public layer {
 public:
  explicit token_embedding(const token_embedding_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  at::Tensor decode(std::span<const at::Tensor> parameters, const at::Tensor& ids, const layer_context& context,
                    decode_memory& memory) const override;
  /// By tokens, where the boundaries have targets.
  std::vector<chain_part> in_pieces(const division& into) const override;
  std::string signature() const override;

 private:
  token_embedding_options options_;
};

}  // namespace hydra
