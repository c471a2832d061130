#pragma once
// Final norm and language-model head.

#include "models/layer.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

struct head_options {
  std::int64_t vocabulary = 0;
  std::int64_t width = 0;
  double eps = 1e-5;  ///< of the norm
  /// full name of the token embedding that this head is a tied copy of; empty: weights of its own
  std::string tied_to{};
  bool rms = false;          ///< an RMS norm, "model.norm"; else a layer norm, "ln_f", without the next two
  bool offset_norm = false;  ///< the norm multiplies by 1 + weight
  double logit_cap = 0;      ///< logits l become cap * tanh(l / cap); 0: they stay
};

/// f32[samples, tokens, width] (or width + 1: packed_tokens.hpp) -> f32[samples, tokens, vocabulary]: the norm, then
/// lm_head (no bias).
class head final : public layer {
 public:
  explicit head(head_options options);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  at::Tensor decode(std::span<const at::Tensor> parameters, const at::Tensor& input, const layer_context& context,
                    decode_memory& memory) const override;
  bool is_row_wise() const override { return true; }
  /// By classes, where the boundaries have targets.
  std::vector<chain_part> in_pieces(const division& into) const override;
  bool divides_classes() const override { return true; }
  std::string signature() const override;

  /// The norm, whose parameters are first, and the logits of what it gives, by the map at that index.
  at::Tensor norm(std::span<const at::Tensor> parameters, const at::Tensor& vectors) const;
  at::Tensor logits(std::span<const at::Tensor> parameters, std::size_t map, const at::Tensor& normed,
                    const layer_context& context) const;

 private:
  head_options options_;
};

}  // namespace hydra
