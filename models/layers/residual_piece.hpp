#pragma once
// A piece of a layer with a residual connection, as a term of its sum.

#include "models/layers/sum_of_pieces.hpp"
#include "models/pieces/piece_term.hpp"
#include "models/pieces/residual_term.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

struct residual_form {
  std::int64_t width = 0;  ///< of x and y
  double dropout = 0;
  std::uint32_t site = 0;  ///< of the dropout
  bool targets = false;    ///< in the boundaries
};

/// drop(P_t(n)): all with the same mask, because the pieces have the layer's number. Computed with [n | rest], or
/// [n | x | rest] if the sum is normed; rest as in token_columns.hpp.
class residual_piece final : public piece_term {
 public:
  residual_piece(std::shared_ptr<const residual_term> term, const residual_form& form);

  std::vector<parameter_spec> parameters() const override { return term_->parameters(); }
  sum_columns columns() const override { return {.sum = form_.width, .used = form_.width}; }
  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& known,
                const layer_context& context) const override;
  bool passes_gradient() const override { return term_->norms_sum(); }
  std::string signature() const override;

 private:
  std::shared_ptr<const residual_term> term_;
  residual_form form_;
};

/// y = x + drop(sum of the pieces), or x + norm(sum of the pieces). `make`: the term of that piece; the norms are those
/// of the only one.
sum_of_pieces residual_sum(std::uint32_t pieces, const residual_form& form,
                           const std::function<std::shared_ptr<const residual_term>(piece_place)>& make);

}  // namespace hydra
