#pragma once
// A piece of the head of a language model: some of its classes.

#include "models/layer.hpp"
#include "models/layers/head.hpp"
#include "models/parameter_slice.hpp"

#include <span>
#include <string>
#include <vector>

namespace hydra {

/// The norm, which the first piece has, then lm_head of its classes, and what cross entropy needs of their logits
/// (class_statistics.hpp), joined with that of the pieces before it: after the last one f32[samples, tokens, 12]. Its
/// loss is loss::of_pieces() of cross entropy. The first piece gets the columns of token_columns.hpp, with targets; the
/// others [statistics | normed vectors] in front of those behind the vectors.
class head_piece final : public layer {
 public:
  head_piece(const head_options& options, const piece_place& piece);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  head whole_;
  std::int64_t width_;
  piece_place piece_;
  parameter_slice::range classes_;
};

}  // namespace hydra
