#pragma once
// A layer in pieces as layers of a chain: an opening, its terms, and what is made of their sum.

#include "models/layer.hpp"
#include "models/pieces/piece_term.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// A norm of vectors [samples, tokens, width], with its parameters.
struct norm_function {
  std::string name{};  ///< for signatures, with its options
  std::vector<parameter_spec> parameters{};
  std::function<at::Tensor(std::span<const at::Tensor>, const at::Tensor&)> of{};
};

/// y = last(x + P_0(n) + P_1(n) ...), n = opening(x), where x is added, or kept for `last`. The sum is
/// ((x + P_0) + P_1) + ..., the gradient of n ((d_{T-1} + d_{T-2}) + ...) + d_0, and goes through the opening once.
/// These are the sums of tensor parallelism (Shoeybi et al. 2019) in a defined order: bits depend on the number of
/// pieces, and neither on where they are computed nor whether one after the other.
struct sum_of_pieces {
  std::int64_t width = 0;                  ///< of x, which has the columns of token_columns.hpp
  bool targets = false;                    ///< among them
  std::optional<norm_function> opening{};  ///< none: terms compute with the layer's input
  piece_terms terms{};
  enum class input : std::uint8_t { added, kept, left_out } of_input = input::left_out;  ///< else there is an opening
  std::shared_ptr<const layer> last{};  ///< null: y is the sum
};

/// [sum | x | rest] -> [x + norm(sum) | rest]: of a sum that keeps its input.
std::shared_ptr<const layer> norm_of_sum(const norm_function& norm, std::int64_t width, bool targets);

/// A layer that norms the vectors of [vectors | rest].
std::shared_ptr<const layer> norm_of_tokens(const norm_function& norm, std::int64_t width, bool targets);

/// In turn, each piece adds to the sum that the one before it passes on: between two of them are the columns
/// [sum | n | those behind n]. Side by side, each leaves its term alone. Throws fault_error{bad_input} for a sum that
/// keeps its input, which is made in turn only.
std::vector<chain_part> layers_of(const sum_of_pieces& sum, const division& into);

}  // namespace hydra
