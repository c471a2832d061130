#pragma once
// A piece of the head of a language model: some of its classes.

#include "models/layer.hpp"
#include "models/layers/head.hpp"
#include "models/parameter_slice.hpp"
#include "models/pieces/piece_term.hpp"

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

namespace hydra {

/// lm_head of its classes, and what cross entropy needs of their logits (class_statistics.hpp) in columns beside those
/// of other pieces. Computed with the columns of token_columns.hpp, with targets, the vectors being normed.
class head_piece final : public piece_term {
 public:
  head_piece(const head_options& options, const piece_place& piece);

  std::vector<parameter_spec> parameters() const override;
  sum_columns columns() const override;
  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& known,
                const layer_context& context) const override;
  std::string signature() const override;

 private:
  head whole_;
  std::int64_t width_;
  piece_place piece_;
  parameter_slice::range classes_;
};

/// All of them: the norm first; last the statistics of all classes, f32[samples, tokens, 12], whose loss is
/// loss::of_pieces() of cross entropy.
std::vector<chain_part> head_in_pieces(const head_options& options, const division& into);

}  // namespace hydra
