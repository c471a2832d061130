#pragma once
// GPT-2's block: attention and MLP, each after a layer norm and with a residual connection.

#include "models/layer.hpp"
#include "models/layers/attention.hpp"

namespace hydra {

struct transformer_block_options {
  std::int64_t width = 0;
  std::int64_t heads = 0;   ///< divides width
  std::int64_t layers = 1;  ///< blocks of the whole model: residual projections start at 0.02/sqrt(2*layers)
  double dropout = 0;       ///< of the attention's and of the MLP's output
  double attention_dropout = 0;  ///< of the attention's probabilities
  double eps = 1e-5;        ///< of the norms
};

/// f32[samples, tokens, width] -> the same, or width + 1 (packed_tokens.hpp). Pre-LN, causal attention, MLP of 4*width
/// with tanh GELU. Weights are [in, out] as in Hugging Face's checkpoints of GPT-2.
class transformer_block final : public layer {
 public:
  explicit transformer_block(const transformer_block_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  at::Tensor decode(std::span<const at::Tensor> parameters, const at::Tensor& input, const layer_context& context,
                    decode_memory& memory) const override;
  std::string signature() const override;

 private:
  attention_heads heads_of(std::span<const at::Tensor> parameters, const at::Tensor& input,
                           const layer_context& context) const;

  transformer_block_options options_;
};

}  // namespace hydra
