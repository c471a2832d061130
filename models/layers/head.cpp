#include "models/layers/head.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/head_piece.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/norms.hpp"
#include "models/layers/packed_tokens.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <utility>

namespace hydra {

head::head(head_options options) : options_(std::move(options)) {
  require_positive("head: vocabulary", options_.vocabulary);
  require_positive("head: width", options_.width);
}

std::vector<parameter_spec> head::parameters() const {
  const head_options& o = options_;
  const auto lm_head =
      linear_parameter("lm_head.weight", o.vocabulary, o.width, {initial_value::kind::normal, 0.02}, o.tied_to);
  const initial_value neutral{initial_value::kind::constant, o.rms && o.offset_norm ? 0.0 : 1.0};
  if (o.rms) return {{"model.norm.weight", {o.width}, neutral, {}}, lm_head};
  return {{"ln_f.weight", {o.width}, neutral, {}}, {"ln_f.bias", {o.width}, {}, {}}, lm_head};
}

tensor_spec head::output(const tensor_spec& input) const {
  require_packed_tokens("head", input, options_.width);
  return {{input.shape[0], input.shape[1], options_.vocabulary}, element::f32};
}

at::Tensor head::norm(std::span<const at::Tensor> parameters, const at::Tensor& vectors) const {
  if (!options_.rms) return layer_norm(vectors, parameters[0], parameters[1], options_.eps);
  return rms_norm(vectors, parameters[0], options_.eps, options_.offset_norm);
}

at::Tensor head::logits(std::span<const at::Tensor> parameters, std::size_t map, const at::Tensor& normed,
                        const layer_context& context) const {
  const at::Tensor logits = linear_map(parameters, {map}, normed, context);
  const double cap = options_.rms ? options_.logit_cap : 0;
  return cap > 0 ? logits.div(cap).tanh().mul(cap) : logits;
}

at::Tensor head::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                         const layer_context& context) const {
  const at::Tensor normed = norm(parameters, split_starts(input, options_.width).vectors);
  return logits(parameters, options_.rms ? 1 : 2, normed, context);
}

at::Tensor head::decode(std::span<const at::Tensor> parameters, const at::Tensor& input, const layer_context& context,
                        decode_memory&) const {
  const at::NoGradGuard no_grad;
  return forward(parameters, input, context);
}

std::vector<chain_part> head::in_pieces(const division& into) const {
  return into.targets ? head_in_pieces(options_, into) : std::vector<chain_part>{};
}

std::string head::signature() const {
  const head_options& o = options_;
  if (!o.rms) return fmt::format("head vocabulary={} width={}{}", o.vocabulary, o.width, eps_unless_usual(o.eps));
  return fmt::format("rms head vocabulary={} width={} eps={} offset_norm={} logit_cap={}", o.vocabulary, o.width, o.eps,
                     o.offset_norm, o.logit_cap);
}

}  // namespace hydra
