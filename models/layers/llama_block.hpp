#pragma once
// Llama's block: grouped-query attention with rotary positions and a gated MLP, each after an RMS norm and with a
// residual connection (Touvron et al. 2023); and what Mistral, Qwen, Gemma and Phi-3 change in it.

#include "models/layers/llama_parts.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// f32[samples, tokens, width] -> the same, or width + 1 (packed_tokens.hpp). Weights are [out, in] as in Hugging
/// Face's checkpoints. No dropout.
class llama_block final : public layer {
 public:
  explicit llama_block(const llama_block_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  at::Tensor decode(std::span<const at::Tensor> parameters, const at::Tensor& input, const layer_context& context,
                    decode_memory& memory) const override;
  std::vector<chain_part> in_pieces(const division& into) const override {
    return llama_in_pieces(options_, into);
  }
  std::string signature() const override { return "llama block " + signature_of(options_); }

 private:
  at::Tensor run(std::span<const at::Tensor> parameters, const at::Tensor& input, const at::Tensor& positions,
                 const layer_context& context, const llama_parts::attention_function& attend) const;

  llama_block_options options_;
  llama_parts parts_;
};

}  // namespace hydra
