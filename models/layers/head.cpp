#include "models/layers/head.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/layer_norm.hpp"
#include "models/layers/linear_map.hpp"
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
  return {{"ln_f.weight", {options_.width}, {initial_value::kind::constant, 1}, {}},
          {"ln_f.bias", {options_.width}, {}, {}},
          linear_parameter("lm_head.weight", options_.vocabulary, options_.width, {initial_value::kind::normal, 0.02},
                           options_.tied_to)};
}

tensor_spec head::output(const tensor_spec& input) const {
  require_packed_tokens("head", input, options_.width);
  return {{input.shape[0], input.shape[1], options_.vocabulary}, element::f32};
}

at::Tensor head::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                         const layer_context& context) const {
  const at::Tensor vectors = split_starts(input, options_.width).vectors;
  return linear_map(parameters, {2}, layer_norm(vectors, parameters[0], parameters[1], options_.eps), context);
}

at::Tensor head::decode(std::span<const at::Tensor> parameters, const at::Tensor& input, const layer_context& context,
                        decode_memory&) const {
  const at::NoGradGuard no_grad;
  return forward(parameters, input, context);
}

std::string head::signature() const {
  return fmt::format("head vocabulary={} width={}{}", options_.vocabulary, options_.width, eps_unless_usual(options_.eps));
}

}  // namespace hydra
