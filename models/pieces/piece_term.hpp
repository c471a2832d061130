#pragma once
// One of the terms of a sum: what a piece of a layer computes.

#include "models/layer.hpp"
#include "models/parameter_slice.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// The columns (last dimension) of a sum, and of what its terms compute with.
struct sum_columns {
  std::int64_t sum = 0;   ///< of each term
  std::int64_t used = 0;  ///< the first ones of what terms compute with; those behind them follow the sum, ...
  bool ends = false;      ///< ... unless none does
  /// The term's columns stand behind so many of the terms before it, instead of being added to them.
  std::optional<std::int64_t> behind{};
  /// How many follow the sum, if terms compute with so many.
  std::int64_t following(std::int64_t known) const noexcept { return ends ? 0 : known - used; }
};

/// Thread-safe because const.
class piece_term {
 public:
  virtual ~piece_term() = default;

  /// As layer::parameters().
  virtual std::vector<parameter_spec> parameters() const = 0;

  virtual sum_columns columns() const = 0;

  /// What all terms of the sum compute with, [..., columns] of a floating-point `type`: their input, or what a first
  /// layer makes of the samples.
  virtual tensor_spec known(const tensor_spec& input) const { return input; }
  virtual at::Tensor known(const at::Tensor& input, at::ScalarType /*type*/) const { return input; }

  /// [..., columns().sum]
  virtual at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& known,
                        const layer_context& context) const = 0;

  /// The columns of `known` that follow the sum; undefined: none does.
  at::Tensor behind_sum(const at::Tensor& known) const;
  /// Whether these have a gradient.
  virtual bool passes_gradient() const { return false; }

  /// As layer::signature(); equal for pieces that cost the same.
  virtual std::string signature() const = 0;
};

using piece_terms = std::vector<std::shared_ptr<const piece_term>>;

/// `make(piece_place)`: each of them.
template <class Make>
piece_terms terms_of(std::uint32_t pieces, const Make& make) {
  piece_terms all;
  for (std::uint32_t i = 0; i < pieces; ++i) all.push_back(make(piece_place{i, pieces}));
  return all;
}

}  // namespace hydra
