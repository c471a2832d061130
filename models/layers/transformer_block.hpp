#pragma once
// GPT-2's block: attention and MLP, each after a layer norm and with a residual connection.

#include "models/layer.hpp"
#include "models/layers/transformer_terms.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

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
  /// The attention's, then the MLP's. Their number divides that of the heads.
  std::vector<chain_part> in_pieces(const division& into) const override;
  std::string signature() const override;

 private:
  transformer_block_options options_;
  attention_term attention_;
  mlp_term mlp_;
};

}  // namespace hydra
