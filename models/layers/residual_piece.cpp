#include "models/layers/residual_piece.hpp"

#include "models/dropout.hpp"
#include "models/pieces/token_columns.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

residual_piece::residual_piece(std::shared_ptr<const residual_term> term, const residual_form& form)
    : term_(std::move(term)), form_(form) {}

at::Tensor residual_piece::of(std::span<const at::Tensor> parameters, const at::Tensor& known,
                              const layer_context& context) const {
  const std::int64_t vectors = form_.width * (term_->norms_sum() ? 2 : 1), behind = known.size(2) - vectors;
  const at::Tensor n = known.narrow(2, 0, form_.width).contiguous();
  const at::Tensor rest = behind == 0 ? at::Tensor{} : known.detach().narrow(2, vectors, behind);
  const at::Tensor y = term_->of(parameters, n, starts_in(rest, form_.targets), context);
  return keyed_dropout(y, form_.dropout, context, form_.site);
}

std::string residual_piece::signature() const {
  return fmt::format("{} {} dropout={}{}", term_->name(), term_->options(), form_.dropout,
                     form_.targets ? " targets" : "");
}

sum_of_pieces residual_sum(std::uint32_t pieces, const residual_form& form,
                           const std::function<std::shared_ptr<const residual_term>(piece_place)>& make) {
  const auto whole = make({});
  const std::vector<parameter_spec> all = whole->parameters();
  const auto norms = static_cast<std::ptrdiff_t>(whole->norm_size());
  norm_function norm{.name = fmt::format("norm of {} {}", whole->name(), whole->options())};
  sum_of_pieces sum{.width = form.width, .targets = form.targets, .of_input = sum_of_pieces::input::added};
  sum.terms =
      terms_of(pieces, [&](const piece_place& piece) { return std::make_shared<residual_piece>(make(piece), form); });
  if (whole->norms_sum()) {
    sum.of_input = sum_of_pieces::input::kept;
    norm.parameters = {all.end() - norms, all.end()};
    norm.of = [whole](std::span<const at::Tensor> p, const at::Tensor& s) { return whole->norm_of_sum(p, s); };
    sum.last = norm_of_sum(norm, form.width, form.targets);
  }
  norm.parameters = {all.begin(), all.begin() + norms};
  norm.of = [whole](std::span<const at::Tensor> p, const at::Tensor& x) { return whole->norm(p, x); };
  sum.opening = norm;
  return sum;
}

}  // namespace hydra
