#pragma once
// Token and position embeddings.

#include "models/layer.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hydra {

struct embedding_options {
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;  ///< maximum length of a sample
  std::int64_t width = 0;
  double dropout = 0;
};

/// i64[samples, tokens] -> f32[samples, tokens, width]: wte.weight[id] + wpe.weight[position], then dropout. Of samples
/// that hold several records: i64[samples, 2, tokens] -> f32[samples, tokens, width + 1] (packed_tokens.hpp).
class embedding final : public layer {
 public:
  explicit embedding(const embedding_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& ids,
                     const layer_context& context) const override;
  at::Tensor decode(std::span<const at::Tensor> parameters, const at::Tensor& ids, const layer_context& context,
                    decode_memory& memory) const override;
  /// By tokens, where the boundaries have targets.
  std::vector<chain_part> in_pieces(const division& into) const override;
  std::string signature() const override;

 private:
  embedding_options options_;
};

}  // namespace hydra
