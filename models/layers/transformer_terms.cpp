#include "models/layers/transformer_terms.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/weight_and_bias.hpp"
#include "models/pieces/piece_parameters.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu_ops.h>
#include <fmt/format.h>

#include <cmath>

namespace hydra {
namespace {

constexpr std::uint32_t shares_site = 2;  ///< of the first piece, then one for each

constexpr std::size_t norm_parameters = 2;

/// Indices of the two maps. A bias follows its weight; the norm of the only piece is before them.
std::size_t inner_map(const transformer_part& part) {
  return part.first + (part.piece.whole() ? norm_parameters : 0);
}
std::size_t outer_map(const transformer_part& part) { return inner_map(part) + 2; }

constexpr initial_value normal{initial_value::kind::normal, 0.02};

/// GPT-2 keeps the variance of the residual stream independent of the depth.
initial_value residual(const transformer_block_options& o) {
  return {initial_value::kind::normal, 0.02 / std::sqrt(2.0 * static_cast<double>(o.layers))};
}

parameter_spec weight(const std::string& name, std::int64_t in, std::int64_t out, initial_value initial) {
  return {
      .name = name + ".weight", .shape = {in, out}, .initial = initial, .tied_to = {}, .linear = linear_weight::in_out};
}

/// A piece has the part `columns` of the first map's outputs, and `rows` of the second one's inputs.
std::vector<parameter_spec> two_maps(const transformer_part& part, std::int64_t width, const std::string& norm_name,
                                     const parameter_spec& first, const std::vector<parameter_slice::range>& columns,
                                     const parameter_spec& second, const parameter_slice::range& rows) {
  piece_parameters all{part.piece};
  std::vector<parameter_spec> norm;
  add_norm(norm, norm_name, width);
  for (const parameter_spec& p : norm)
    if (part.piece.whole()) all.add(p);
  const auto bias_of = [](const parameter_spec& weight) {
    const std::string module = weight.name.substr(0, weight.name.rfind('.'));
    return parameter_spec{module + ".bias", {weight.shape[1]}, {}, {}};
  };
  all.add_part(first, 1, columns);
  all.add_part(bias_of(first), 0, columns);
  all.add_part(second, 0, {rows});
  if (part.piece.first()) all.add(bias_of(second));
  return all.take();
}

/// Only the first piece has a bias.
at::Tensor map_out(std::span<const at::Tensor> parameters, const transformer_part& part, const at::Tensor& x,
                   const layer_context& context) {
  const std::size_t at = outer_map(part);
  if (part.piece.first()) return linear_map_in_out(parameters, at, x, context);
  return x.matmul(parameters[at]);
}

std::string text_of(const transformer_block_options& o) {
  return fmt::format("width={} heads={}{}{}", o.width, o.heads, attention_dropout_in(o), eps_unless_usual(o.eps));
}

}  // namespace

std::string attention_dropout_in(const transformer_block_options& o) {
  return o.attention_dropout > 0 ? fmt::format(" attention_dropout={}", o.attention_dropout) : "";
}

attention_term::attention_term(const transformer_block_options& options, const transformer_part& part)
    : options_(options), part_(part), heads_(options.heads / part.piece.of) {}

std::vector<parameter_spec> attention_term::parameters() const {
  const std::int64_t w = options_.width;
  const auto columns = part_.piece.of_each_row({w, w, w});  // of queries, keys and values
  return two_maps(part_, w, "ln_1", weight("attn.c_attn", w, 3 * w, normal), columns,
                  weight("attn.c_proj", w, w, residual(options_)), part_.piece.of_row(w));
}

at::Tensor attention_term::norm(std::span<const at::Tensor> parameters, const at::Tensor& x) const {
  return apply_norm(parameters, part_.first, x, options_.eps);
}

attention_heads attention_term::heads_of(std::span<const at::Tensor> parameters, const at::Tensor& n,
                                         const layer_context& context) const {
  const std::vector<at::Tensor> qkv =
      linear_map_in_out(parameters, inner_map(part_), n, context).split(options_.width / part_.piece.of, 2);
  const auto heads = [&](const at::Tensor& t) { return split_heads(t, heads_); };
  return {heads(qkv[0]), heads(qkv[1]), heads(qkv[2])};
}

at::Tensor attention_term::project(std::span<const at::Tensor> parameters, const at::Tensor& attended,
                                   const layer_context& context) const {
  return map_out(parameters, part_, join_heads(attended), context);
}

at::Tensor attention_term::of(std::span<const at::Tensor> parameters, const at::Tensor& n, const at::Tensor& starts,
                              const layer_context& context) const {
  const attention_heads heads = heads_of(parameters, n, context);
  const std::uint32_t site = shares_site + part_.piece.number;
  return project(parameters, dropped_attention(heads, options_.attention_dropout, context, site, starts), context);
}

std::size_t attention_term::norm_size() const { return norm_parameters; }

std::string attention_term::options() const { return text_of(options_); }

mlp_term::mlp_term(const transformer_block_options& options, const transformer_part& part)
    : options_(options), part_(part) {}

std::vector<parameter_spec> mlp_term::parameters() const {
  const std::int64_t w = options_.width, hidden = 4 * w;
  const auto own = part_.piece.of_row(hidden);
  return two_maps(part_, w, "ln_2", weight("mlp.c_fc", w, hidden, normal), {own},
                  weight("mlp.c_proj", hidden, w, residual(options_)), own);
}

at::Tensor mlp_term::norm(std::span<const at::Tensor> parameters, const at::Tensor& x) const {
  return apply_norm(parameters, part_.first, x, options_.eps);
}

at::Tensor mlp_term::of(std::span<const at::Tensor> parameters, const at::Tensor& n, const at::Tensor&,
                        const layer_context& context) const {
  const at::Tensor hidden = linear_map_in_out(parameters, inner_map(part_), n, context);
  return map_out(parameters, part_, at::_ops::gelu::call(hidden, "tanh"), context);
}

std::size_t mlp_term::norm_size() const { return norm_parameters; }

std::string mlp_term::options() const { return text_of(options_); }

}  // namespace hydra
