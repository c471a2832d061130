#pragma once
// Attention and MLP of Llama's block, each of its norm: what they add to their input; whole, or in pieces by heads and
// by features of the MLP.

#include "models/layer.hpp"
#include "models/layers/activation.hpp"
#include "models/layers/attention.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/rotary.hpp"
#include "models/parameter_slice.hpp"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

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

/// Returns a block's parameters in the order of parameters().
class block_parameters {
 public:
  block_parameters(std::span<const at::Tensor> parameters, const layer_context& context)
      : parameters_(parameters), context_(context) {}

  const at::Tensor& next() { return parameters_[index_++]; }

  /// x @ weight^T (+ bias) with the next weight.
  at::Tensor project(const at::Tensor& x, bool biased) {
    linear_place place{index_++};
    if (biased) place.bias = index_++;
    return linear_map(parameters_, place, x, context_);
  }

 private:
  std::span<const at::Tensor> parameters_;
  const layer_context& context_;
  std::size_t index_ = 0;
};

class llama_parts {
 public:
  using attention_function = std::function<at::Tensor(const attention_heads&)>;

  /// `prefix`: of the layer; the pieces after the first one copy that one's norms of queries and keys, and have no bias
  /// of outputs.
  explicit llama_parts(const llama_block_options& options, const piece_place& piece = {}, std::string prefix = {});

  /// The norm of the input comes first, that of the output last; pieces have neither.
  std::vector<parameter_spec> parameters_of_attention() const;
  std::vector<parameter_spec> parameters_of_mlp() const;

  /// Between the norms, of their input.
  at::Tensor attention(block_parameters& p, const at::Tensor& n, const at::Tensor& positions,
                       const attention_function& attend) const;
  at::Tensor mlp(block_parameters& p, const at::Tensor& n) const;
  at::Tensor norm(block_parameters& p, const at::Tensor& x) const;

  std::int64_t hidden() const noexcept { return hidden_; }

 private:
  class parameter_list;
  std::vector<at::Tensor> projections(block_parameters& p, const at::Tensor& n, bool biased,
                                      std::initializer_list<std::int64_t> sizes) const;
  attention_heads heads_of(block_parameters& p, const at::Tensor& n, const at::Tensor& positions) const;

  llama_block_options options_;  ///< of the whole block
  piece_place piece_;
  std::string prefix_;
  std::int64_t heads_, kv_heads_, hidden_;  ///< of this piece
  rotary positions_;
};

/// The pieces of a block, attentions, then MLPs. Throws fault_error{bad_input} if they do not divide the heads of keys
/// and values.
std::vector<chain_part> llama_in_pieces(const llama_block_options& options, const division& into);

/// "width=... heads=...": all of them.
std::string signature_of(const llama_block_options& options);

}  // namespace hydra
