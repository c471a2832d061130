#pragma once
// A layer to whose linear maps an adapter adds maps of low rank.

#include "models/lora.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// A linear weight of a layer that is adapted.
struct adapted_weight {
  std::size_t index = 0;  ///< in the layer's parameters
  std::int64_t rank = 0;
  double scale = 1;
};

/// LoRA (Hu et al. 2021): W x becomes W x + scale * B A dropout(x). The parameters are the layer's own, then for each
/// weight, whose name is "MODULE.weight", "MODULE.lora_A.weight" [rank, in], uniform in +-1/sqrt(in), and
/// "MODULE.lora_B.weight" [out, rank], zero: names and initial values of Hugging Face's PEFT. With magnitudes
/// "MODULE.lora_magnitude_vector" [out], too.
class adapted_layer final : public layer {
 public:
  /// `weights`: ascending.
  adapted_layer(std::shared_ptr<const layer> body, const std::vector<adapted_weight>& weights, lora_options options);

  std::vector<parameter_spec> parameters() const override { return parameters_; }
  tensor_spec output(const tensor_spec& input) const override { return body_->output(input); }
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  at::Tensor decode(std::span<const at::Tensor> parameters, const at::Tensor& input, const layer_context& context,
                    decode_memory& memory) const override;
  /// The masks of a dropout are those of all rows.
  bool is_row_wise() const override { return body_->is_row_wise() && options_.dropout == 0; }
  bool depends_on_gradients() const override { return body_->depends_on_gradients(); }
  std::string signature() const override;

  const std::shared_ptr<const layer>& body() const noexcept { return body_; }
  const lora_options& options() const noexcept { return options_; }
  const std::vector<low_rank_term>& terms() const noexcept { return terms_; }  ///< one for each weight

 private:
  layer_context with_terms(layer_context context) const;

  std::shared_ptr<const layer> body_;
  lora_options options_;
  std::vector<parameter_spec> parameters_;
  std::vector<low_rank_term> terms_;
};

}  // namespace hydra
