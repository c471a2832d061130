#include "models/layers/head_piece.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/sum_of_pieces.hpp"
#include "models/pieces/class_statistics.hpp"
#include "models/pieces/piece_columns.hpp"
#include "models/pieces/piece_parameters.hpp"
#include "models/pieces/token_columns.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <memory>
#include <utility>

namespace hydra {
namespace {

constexpr std::int64_t width_of_statistics = class_numbers * columns_of_number;

/// [samples, tokens, 12 for each piece] -> [samples, tokens, 12]: the pieces' joined in their order.
class statistics_of_all final : public layer {
 public:
  explicit statistics_of_all(std::uint32_t pieces) : pieces_(pieces) {}

  std::vector<parameter_spec> parameters() const override { return {}; }
  tensor_spec output(const tensor_spec& input) const override {
    require_input("statistics of classes", input, element::f32, 3, width_of_statistics * pieces_);
    tensor_spec out = input;
    out.shape.back() = width_of_statistics;
    return out;
  }
  at::Tensor forward(std::span<const at::Tensor>, const at::Tensor& input, const layer_context&) const override {
    const auto parts = split_columns(input, std::vector<std::int64_t>(pieces_, width_of_statistics));
    at::Tensor all = from_columns(parts[0]);
    for (std::uint32_t i = 1; i < pieces_; ++i) all = joined_statistics(all, from_columns(parts[i]));
    return to_columns(all, input.scalar_type());
  }
  std::string signature() const override { return fmt::format("statistics of classes in {} pieces", pieces_); }

 private:
  std::uint32_t pieces_;
};

}  // namespace

head_piece::head_piece(const head_options& options, const piece_place& piece)
    : whole_(options), width_(options.width), piece_(piece), classes_(piece.of_row(options.vocabulary)) {}

std::vector<parameter_spec> head_piece::parameters() const {
  piece_parameters all{piece_};
  all.add_part(whole_.parameters().back(), 0, {classes_});
  return all.take();
}

sum_columns head_piece::columns() const {
  return {.sum = width_of_statistics,
          .used = width_,
          .ends = true,
          .behind = width_of_statistics * static_cast<std::int64_t>(piece_.number)};
}

at::Tensor head_piece::of(std::span<const at::Tensor> parameters, const at::Tensor& known,
                          const layer_context& context) const {
  const auto [n, rest] = open_tokens(known, width_);
  const at::Tensor logits = whole_.logits(parameters, 0, n, context).to(at::kFloat);
  return to_columns(class_statistics(logits, targets_in(rest), classes_.first), known.scalar_type());
}

std::string head_piece::signature() const {
  return fmt::format("head classes={} behind {} of {} of {}", classes_.size(), piece_.number, piece_.of,
                     whole_.signature());
}

std::vector<chain_part> head_in_pieces(const head_options& options, const division& into) {
  const auto whole = std::make_shared<head>(options);
  std::vector<parameter_spec> norm = whole->parameters();
  norm.pop_back();
  sum_of_pieces sum{.width = options.width, .targets = true};
  sum.opening = norm_function{
      .name = "norm of " + whole->signature(),
      .parameters = std::move(norm),
      .of = [whole](std::span<const at::Tensor> p, const at::Tensor& x) { return whole->norm(p, x); }};
  sum.terms =
      terms_of(into.pieces, [&](const piece_place& piece) { return std::make_shared<head_piece>(options, piece); });
  sum.last = std::make_shared<statistics_of_all>(into.pieces);
  return layers_of(sum, into);
}

}  // namespace hydra
