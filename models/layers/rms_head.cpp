#include "models/layers/rms_head.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/packed_tokens.hpp"
#include "models/layers/rms_norm.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <utility>

namespace hydra {

rms_head::rms_head(rms_head_options options) : options_(std::move(options)) {
  require_positive("head: vocabulary", options_.vocabulary);
  require_positive("head: width", options_.width);
}

std::vector<parameter_spec> rms_head::parameters() const {
  return {
      {"model.norm.weight", {options_.width}, {initial_value::kind::constant, options_.offset_norm ? 0.0 : 1.0}, {}},
      linear_parameter("lm_head.weight", options_.vocabulary, options_.width, {initial_value::kind::normal, 0.02},
                       options_.tied_to)};
}

tensor_spec rms_head::output(const tensor_spec& input) const {
  require_packed_tokens("head", input, options_.width);
  return {{input.shape[0], input.shape[1], options_.vocabulary}, element::f32};
}

at::Tensor rms_head::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                             const layer_context& context) const {
  const at::Tensor vectors = split_starts(input, options_.width).vectors;
  const at::Tensor normed = rms_norm(vectors, parameters[0], options_.eps, options_.offset_norm);
  const at::Tensor logits = linear_map(parameters, {1}, normed, context);
  const double cap = options_.logit_cap;
  return cap > 0 ? logits.div(cap).tanh().mul(cap) : logits;
}

at::Tensor rms_head::decode(std::span<const at::Tensor> parameters, const at::Tensor& input,
                            const layer_context& context, decode_memory&) const {
  const at::NoGradGuard no_grad;
  return forward(parameters, input, context);
}

std::string rms_head::signature() const {
  const rms_head_options& o = options_;
  return fmt::format("rms head vocabulary={} width={} eps={} offset_norm={} logit_cap={}", o.vocabulary, o.width, o.eps,
                     o.offset_norm, o.logit_cap);
}

}  // namespace hydra
