#pragma once
// Llama's block: grouped-query attention with rotary positions and a gated MLP, each after an RMS norm and with a
// residual connection (Touvron et al. 2023).

#include "models/layer.hpp"
#include "models/layers/attention.hpp"
#include "models/layers/rotary.hpp"

#include <functional>

namespace hydra {

struct llama_block_options {
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;   ///< divide heads
  std::int64_t head_size = 0;  ///< even
  std::int64_t hidden = 0;     ///< features between the projections of the MLP
  double rope_theta = 10000;
  rope_scaling scaling{};
  double eps = 1e-5;         ///< of the norms
  bool qkv_bias = false;     ///< of the projections to queries, keys and values
  bool output_bias = false;  ///< of the attention's output projection
  bool mlp_bias = false;
  bool qk_norm = false;  ///< RMS norms of each head's queries and keys
};

/// f32[samples, tokens, width] -> the same, or width + 1 (packed_tokens.hpp). Weights are [out, in] as in Hugging Face's checkpoints. No dropout.
class llama_block final : public layer {
 public:
  explicit llama_block(const llama_block_options& options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  at::Tensor decode(std::span<const at::Tensor> parameters, const at::Tensor& input, const layer_context& context,
                    decode_memory& memory) const override;
  std::string signature() const override;

 private:
  using attention_function = std::function<at::Tensor(const attention_heads&)>;
  at::Tensor run(std::span<const at::Tensor> parameters, const at::Tensor& input, const at::Tensor& positions,
                 const layer_context& context, const attention_function& attend) const;

  llama_block_options options_;
  rotary positions_;
};

}  // namespace hydra
