#include "models/layers/head_piece.hpp"

#include "models/layers/checks.hpp"
#include "models/pieces/class_statistics.hpp"
#include "models/pieces/piece_columns.hpp"
#include "models/pieces/piece_parameters.hpp"
#include "models/pieces/token_columns.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

namespace hydra {
namespace {

constexpr std::int64_t width_of_statistics = class_numbers * columns_of_number;

}  // namespace

head_piece::head_piece(const head_options& options, const piece_place& piece)
    : whole_(options), width_(options.width), piece_(piece), classes_(piece.of_row(options.vocabulary)) {}

/// The whole head's: the norm, then the map.
std::vector<parameter_spec> head_piece::parameters() const {
  piece_parameters all{piece_, {}};
  for (const parameter_spec& p : whole_.parameters()) {
    if (p.linear != linear_weight::none)
      all.add_part(p, 0, {classes_});
    else if (piece_.first())
      all.add(p);
  }
  return all.take();
}

tensor_spec head_piece::output(const tensor_spec& input) const {
  tensor_spec whole = input;
  if (!piece_.first() && !whole.shape.empty()) whole.shape.back() -= width_of_statistics;
  require_token_columns("head in pieces", whole, width_, true);
  whole.shape.back() = width_of_statistics + (piece_.last() ? 0 : whole.shape.back());
  return {whole.shape, element::f32};
}

at::Tensor head_piece::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                               const layer_context& context) const {
  at::Tensor before, n, rest;
  if (piece_.first()) {
    const token_columns tokens = open_tokens(input, width_);
    n = whole_.norm(parameters, tokens.vectors);
    rest = tokens.rest;
  } else {
    const std::int64_t known = width_of_statistics + width_;
    const auto parts = split_columns(input, {width_of_statistics, width_, input.size(2) - known});
    before = from_columns(parts[0]);
    n = parts[1];
    rest = parts[2].detach();
  }
  const passed_on both = piece_.last() ? passed_on{.onward = {}, .here = n} : pass_on(n);
  const at::Tensor logits = whole_.logits(parameters, parameters.size() - 1, both.here, context).to(at::kFloat);
  const at::Tensor own = class_statistics(logits, targets_in(rest), classes_.first);
  const at::Tensor all = to_columns(before.defined() ? joined_statistics(before, own) : own, input.scalar_type());
  return piece_.last() ? all : join_columns({all, both.onward, rest});
}

std::string head_piece::signature() const {
  return fmt::format("head, {} of {} pieces classes={} of {}", name_of(piece_), piece_.of, classes_.size(),
                     whole_.signature());
}

}  // namespace hydra
