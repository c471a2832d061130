#include "models/layers/residual_piece.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/pieces/piece_columns.hpp"
#include "models/pieces/token_columns.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <utility>

namespace hydra {

residual_piece::residual_piece(std::shared_ptr<const residual_term> term, const piece_place& piece,
                               const residual_form& form)
    : term_(std::move(term)), piece_(piece), form_(form) {}

/// Of the sum and n, and of x, which the last piece needs if it norms the sum.
std::int64_t residual_piece::passed_width() const { return form_.width * (term_->norms_sum() ? 3 : 2); }

tensor_spec residual_piece::output(const tensor_spec& input) const {
  const std::int64_t more = passed_width() - form_.width;
  tensor_spec whole = input;
  if (!piece_.first() && !whole.shape.empty()) whole.shape.back() -= more;
  require_token_columns(term_->name(), whole, form_.width, form_.targets);
  if (!piece_.last()) whole.shape.back() += more;
  return whole;
}

residual_piece::opened residual_piece::open(std::span<const at::Tensor> parameters, const at::Tensor& input) const {
  if (piece_.first()) {
    const token_columns tokens = open_tokens(input, form_.width);
    return {.n = term_->norm(parameters, tokens.vectors), .x = tokens.vectors, .rest = tokens.rest};
  }
  std::vector<std::int64_t> widths(static_cast<std::size_t>(passed_width() / form_.width), form_.width);
  const std::int64_t rest = input.size(2) - passed_width();
  if (rest > 0) widths.push_back(rest);
  const std::vector<at::Tensor> parts = split_columns(input, widths);
  return {.sum = parts[0],
          .n = parts[1],
          .x = term_->norms_sum() ? parts[2] : at::Tensor{},
          .rest = rest > 0 ? parts.back().detach() : at::Tensor{}};
}

at::Tensor residual_piece::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                   const layer_context& context) const {
  const auto [sum_before, n, x, rest] = open(parameters, input);
  const passed_on both = piece_.last() ? passed_on{.onward = {}, .here = n} : pass_on(n);
  const at::Tensor term = term_->of(parameters, both.here, starts_in(rest, form_.targets), context);
  const at::Tensor dropped = keyed_dropout(term, form_.dropout, context, form_.site);
  const bool normed = term_->norms_sum();
  const at::Tensor& before = piece_.first() && !normed ? x : sum_before;
  const at::Tensor sum = before.defined() ? before.add(dropped) : dropped;
  if (!piece_.last()) return join_columns({sum, both.onward, normed ? x : at::Tensor{}, rest});
  return close_tokens(normed ? x.add(term_->norm_of_sum(parameters, sum)) : sum, rest);
}

std::string residual_piece::signature() const {
  return fmt::format("{}, {} of {} pieces {} dropout={}{}", term_->name(), name_of(piece_), piece_.of, term_->options(),
                     form_.dropout, form_.targets ? " targets" : "");
}

}  // namespace hydra
