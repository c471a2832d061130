#pragma once
// One of the terms of a layer with a residual connection: y = x + drop(sum over pieces of P_t(n)), n = norm(x); or of
// one that norms what it adds, y = x + norm(sum over pieces of P_t(n)).

#include "models/layer.hpp"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// `parameters` of all functions: those of the layer. Thread-safe because const.
class residual_term {
 public:
  virtual ~residual_term() = default;

  /// As layer::parameters(). The only piece has those of the norms, too: of x first, of the sum last.
  virtual std::vector<parameter_spec> parameters() const = 0;

  /// n [samples, tokens, width]; of the only piece. It has so many parameters.
  virtual at::Tensor norm(std::span<const at::Tensor> parameters, const at::Tensor& x) const = 0;
  virtual std::size_t norm_size() const = 0;

  /// P_t(n) [samples, tokens, width]; `starts` as in token_columns.hpp.
  virtual at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& n, const at::Tensor& starts,
                        const layer_context& context) const = 0;

  /// Whether the sum is normed before it is added to x, and that norm, of the only piece.
  virtual bool norms_sum() const { return false; }
  virtual at::Tensor norm_of_sum(std::span<const at::Tensor> /*parameters*/, const at::Tensor& sum) const {
    return sum;
  }

  /// "transformer attention".
  virtual std::string name() const = 0;
  /// As layer::signature(), behind the name: "width=8 heads=2".
  virtual std::string options() const = 0;
};

}  // namespace hydra
