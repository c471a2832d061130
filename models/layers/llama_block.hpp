#pragma once
// Llama's block: grouped-query attention with rotary positions and a gated MLP, each after an RMS norm and with a
// residual connection (Touvron et al. 2023); and what Mistral, Qwen, Gemma and Phi-3 change in it.

#include "models/layer.hpp"
#include "models/layers/activation.hpp"
#include "models/layers/attention.hpp"
#include "models/layers/rotary.hpp"

#include <functional>
#include <initializer_list>
#include <vector>

namespace hydra {

class block_parameters;

struct llama_block_options {
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;   ///< divide heads
  std::int64_t head_size = 0;  ///< even
  std::int64_t hidden = 0;     ///< features between the projections of the MLP
  attention_form attention{};
  std::int64_t rotated = 0;  ///< features of a head that are rotated, even; 0: head_size
  double rope_theta = 10000;
  rope_scaling scaling{};
  activation act = activation::silu;
  double eps = 1e-5;         ///< of the norms
  bool qkv_bias = false;     ///< of the projections to queries, keys and values
  bool output_bias = false;  ///< of the attention's output projection
  bool mlp_bias = false;
  bool qk_norm = false;       ///< RMS norms of each head's queries and keys
  bool offset_norms = false;  ///< norms multiply by 1 + weight
  bool output_norms = false;  ///< of attention and MLP before they are added, too (Gemma 2)
  bool fused = false;         ///< one linear map to queries, keys and values, and one to gate and up (Phi-3)
};

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
  std::string signature() const override;

 private:
  using attention_function = std::function<at::Tensor(const attention_heads&)>;
  std::vector<at::Tensor> parts(block_parameters& p, const at::Tensor& x, bool biased,
                                std::initializer_list<std::int64_t> sizes) const;
  attention_heads heads_of(block_parameters& p, const at::Tensor& x, const at::Tensor& positions) const;
  at::Tensor mlp(block_parameters& p, const at::Tensor& x) const;
  at::Tensor norm(block_parameters& p, const at::Tensor& x) const;
  at::Tensor run(std::span<const at::Tensor> parameters, const at::Tensor& input, const at::Tensor& positions,
                 const layer_context& context, const attention_function& attend) const;

  llama_block_options options_;
  rotary positions_;
};

}  // namespace hydra
