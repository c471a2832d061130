#include "models/layers/bert_masked_lm_head.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/masked_tokens.hpp"
#include "models/layers/weight_and_bias.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

enum parameter : std::size_t { transform = 0, norm = 2, decoder = 4 };

}  // namespace

bert_masked_lm_head::bert_masked_lm_head(bert_masked_lm_head_options options) : options_(std::move(options)) {
  require_positive("bert masked-lm head: vocabulary", options_.vocabulary);
  require_positive("bert masked-lm head: width", options_.width);
  require_eps("bert masked-lm head: eps", options_.eps);
}

std::vector<parameter_spec> bert_masked_lm_head::parameters() const {
  const std::int64_t w = options_.width, v = options_.vocabulary;
  std::vector<parameter_spec> result;
  add_linear(result, "transform.dense", w, w);
  add_norm(result, "transform.LayerNorm", w);
  result.push_back(linear_parameter("decoder.weight", v, w, {initial_value::kind::normal, 0.02}, options_.tied_to));
  result.push_back({"bias", {v}, {}, {}});
  return result;
}

tensor_spec bert_masked_lm_head::output(const tensor_spec& input) const {
  require_masked_tokens("bert masked-lm head", input, options_.width);
  return {{input.shape[0], input.shape[1], options_.vocabulary}, element::f32};
}

at::Tensor bert_masked_lm_head::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                        const layer_context& context) const {
  const at::Tensor x = activate(options_.act, apply_linear(parameters, transform, split_mask(input).vectors, context));
  return apply_linear(parameters, decoder, apply_norm(parameters, norm, x, options_.eps), context);
}

std::string bert_masked_lm_head::signature() const {
  return fmt::format("bert masked-lm head vocabulary={} width={} act={} eps={}", options_.vocabulary, options_.width,
                     to_string(options_.act), options_.eps);
}

}  // namespace hydra
