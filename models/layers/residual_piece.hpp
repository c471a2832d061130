#pragma once
// A piece of a layer with a residual connection, as a layer of its own: the pieces stand in a row in a chain.

#include "models/layer.hpp"
#include "models/parameter_slice.hpp"
#include "models/pieces/residual_term.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

struct residual_form {
  std::int64_t width = 0;  ///< of x and y
  double dropout = 0;
  std::uint32_t site = 0;  ///< of the dropout
  bool targets = false;    ///< in the boundaries
};

/// y = ((q_0 + q_1) + q_2) ..., q_0 = x + drop(P_0(n)), q_t = drop(P_t(n)), n = norm(x): all with the same mask,
/// because the pieces have the layer's number. The gradient of n is ((d_{T-1} + d_{T-2}) + ...) + d_0, and goes through
/// the norm once. With a norm of the sum y = x + norm((P_0(n) + P_1(n)) + ...). The sums are those of tensor
/// parallelism (Shoeybi et al. 2019), in a defined order: bits depend on the number of pieces, and not on where they
/// are computed.
///
/// The columns of token_columns.hpp before the first piece, and after the last one. Between them [sum | n], and x where
/// the sum is normed, in front of those behind the vectors.
class residual_piece final : public layer {
 public:
  residual_piece(std::shared_ptr<const residual_term> term, const piece_place& piece, const residual_form& form);

  std::vector<parameter_spec> parameters() const override { return term_->parameters(); }
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  /// What a piece gets. `sum`: of the pieces before it; `x`: where it is needed.
  struct opened {
    at::Tensor sum{}, n{}, x{}, rest{};
  };
  opened open(std::span<const at::Tensor> parameters, const at::Tensor& input) const;
  std::int64_t passed_width() const;

  std::shared_ptr<const residual_term> term_;
  piece_place piece_;
  residual_form form_;
};

}  // namespace hydra
