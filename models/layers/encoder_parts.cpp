#include "models/layers/encoder_parts.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/encoder_attention.hpp"
#include "models/pieces/piece_parameters.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <optional>

namespace hydra {
namespace {

constexpr initial_value small_values{initial_value::kind::normal, 0.02};

/// To these outputs.
void add_map_to(piece_parameters& all, const std::string& name, std::int64_t in, std::int64_t out, bool biased,
                const parameter_slice::range& own) {
  all.add_part(linear_parameter(name + ".weight", out, in, small_values), 0, {own});
  if (biased) all.add_part({name + ".bias", {out}, {}, {}}, 0, {own});
}

/// From these inputs.
void add_map_from(piece_parameters& all, const std::string& name, std::int64_t in, std::int64_t out,
                  const parameter_slice::range& own, bool biased) {
  all.add_part(linear_parameter(name + ".weight", out, in, small_values), 1, {own});
  if (biased) all.add({name + ".bias", {out}, {}, {}});
}

linear_place next_place(std::size_t& at, bool biased) {
  linear_place place{at++};
  if (biased) place.bias = at++;
  return place;
}

/// Those behind the first piece have sites of their own behind all others.
std::uint32_t probabilities_of(const piece_place& piece) {
  constexpr auto last = static_cast<std::uint32_t>(encoder_site::network_output);
  return piece.first() ? static_cast<std::uint32_t>(encoder_site::probabilities) : last + piece.number;
}

}  // namespace

encoder_heads::encoder_heads(const encoder_form& form, const piece_place& piece, std::size_t first)
    : form_(form), piece_(piece) {
  for (linear_place& p : where_.projections) p = next_place(first, form.qkv_bias);
  where_.dense = next_place(first, piece.first());
}

std::vector<parameter_spec> encoder_heads::parameters(const encoder_form& form, const names& called,
                                                      const piece_place& piece) {
  const auto own = piece.of_row(form.width);
  piece_parameters all{piece};
  for (const std::string& name : {called.query, called.key, called.value})
    add_map_to(all, name, form.width, form.width, form.qkv_bias, own);
  add_map_from(all, called.dense, form.width, form.width, own, piece.first());
  return all.take();
}

at::Tensor encoder_heads::of(std::span<const at::Tensor> parameters, const at::Tensor& x, const at::Tensor& bias,
                             const layer_context& context) const {
  const auto projected = [&](std::size_t which) {
    return linear_map(parameters, where_.projections[which], x, context);
  };
  const at::Tensor mixed = encoder_attention({projected(0), projected(1), projected(2)}, bias,
                                             {.heads = form_.heads / piece_.of,
                                              .dropout = form_.attention_dropout,
                                              .site = probabilities_of(piece_)},
                                             context);
  return linear_map(parameters, where_.dense, mixed, context);
}

encoder_network::encoder_network(const encoder_form& form, const piece_place& piece, std::size_t first) : form_(form) {
  intermediate_ = next_place(first, true);
  output_ = next_place(first, piece.first());
}

std::vector<parameter_spec> encoder_network::parameters(const encoder_form& form, const names& called,
                                                        const piece_place& piece) {
  const auto own = piece.of_row(form.hidden);
  piece_parameters all{piece};
  add_map_to(all, called.intermediate, form.width, form.hidden, true, own);
  add_map_from(all, called.output, form.hidden, form.width, own, piece.first());
  return all.take();
}

at::Tensor encoder_network::of(std::span<const at::Tensor> parameters, const at::Tensor& x,
                               const layer_context& context) const {
  return linear_map(parameters, output_, activate(form_.act, linear_map(parameters, intermediate_, x, context)),
                    context);
}

void require_encoder_pieces(const encoder_form& form, std::uint32_t pieces) {
  require_pieces(pieces, form.heads, "heads of the attention");
  if (pieces > form.hidden)
    refuse(fmt::format("{} pieces are more than the {} units of the feed-forward network", pieces, form.hidden));
}

std::string text_of(const encoder_form& form, const piece_place& piece) {
  return fmt::format("width={} heads={} units={} act={} qkv_bias={} dropout={} attention_dropout={} eps={}", form.width,
                     form.heads, piece.of_row(form.hidden).size(), to_string(form.act), form.qkv_bias, form.dropout,
                     form.attention_dropout, form.eps);
}

}  // namespace hydra
