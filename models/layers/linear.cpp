#include "models/layers/linear.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/sum_of_pieces.hpp"
#include "models/pieces/piece_parameters.hpp"
#include "models/pieces/piece_term.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu_ops.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace hydra {
namespace {

/// Some of the outputs of a hidden layer, before its activation.
class linear_piece final : public piece_term {
 public:
  linear_piece(const linear& whole, const linear_options& options, const piece_place& piece)
      : whole_(whole), in_(options.in), piece_(piece), own_(piece.of_row(options.out)) {}

  std::vector<parameter_spec> parameters() const override {
    piece_parameters all{piece_};
    for (const parameter_spec& p : whole_.parameters()) all.add_part(p, 0, {own_});
    return all.take();
  }
  sum_columns columns() const override {
    return {.sum = own_.size(), .used = in_, .ends = true, .behind = own_.first};
  }
  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& x,
                const layer_context& context) const override {
    return linear_map(parameters, {0, 1}, x, context);
  }
  std::string signature() const override {
    return fmt::format("linear outputs={} of {}", own_.size(), whole_.signature());
  }

 private:
  linear whole_;
  std::int64_t in_;
  piece_place piece_;
  parameter_slice::range own_;
};

at::Tensor activated(const at::Tensor& y, const linear_options& options, const layer_context& context) {
  return keyed_dropout(options.gelu ? at::_ops::gelu::call(y, "none") : y, options.dropout, context, 0);
}

/// What is left of a hidden layer behind its pieces.
class linear_end final : public layer {
 public:
  explicit linear_end(const linear_options& options) : options_(options) {}

  std::vector<parameter_spec> parameters() const override { return {}; }
  tensor_spec output(const tensor_spec& input) const override {
    require_input("activation", input, element::f32, 2, options_.out);
    return input;
  }
  at::Tensor forward(std::span<const at::Tensor>, const at::Tensor& input,
                     const layer_context& context) const override {
    return activated(input, options_, context);
  }
  std::string signature() const override {
    return fmt::format("activation width={} dropout={}", options_.out, options_.dropout);
  }

 private:
  linear_options options_;
};

}  // namespace

linear::linear(const linear_options& options) : options_(options) {
  require_positive("linear: in", options.in);
  require_positive("linear: out", options.out);
  require_dropout("linear: dropout", options.dropout);
}

std::vector<parameter_spec> linear::parameters() const {
  const initial_value initial{initial_value::kind::uniform, 1 / std::sqrt(static_cast<double>(options_.in))};
  return {linear_parameter("weight", options_.out, options_.in, initial), {"bias", {options_.out}, initial, {}}};
}

tensor_spec linear::output(const tensor_spec& input) const {
  require_input("linear", input, element::f32, 2, options_.in);
  return {{input.shape[0], options_.out}, element::f32};
}

at::Tensor linear::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                           const layer_context& context) const {
  return activated(linear_map(parameters, {0, 1}, input, context), options_, context);
}

std::vector<chain_part> linear::in_pieces(const division& into) const {
  if (!options_.gelu) return {};
  if (into.pieces > options_.out)
    refuse(fmt::format("{} pieces are more than the {} outputs", into.pieces, options_.out));
  sum_of_pieces all;
  all.terms = terms_of(
      into.pieces, [&](const piece_place& piece) { return std::make_shared<linear_piece>(*this, options_, piece); });
  all.last = std::make_shared<linear_end>(options_);
  return layers_of(all, into);
}

std::string linear::signature() const {
  return fmt::format("linear in={} out={} gelu={} dropout={}", options_.in, options_.out, options_.gelu,
                     options_.dropout);
}

}  // namespace hydra
