#include "models/layers/bert_classifier.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/masked_tokens.hpp"
#include "models/layers/weight_and_bias.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

namespace hydra {
namespace {

enum parameter : std::size_t { pooler = 0, classifier = 2 };

}  // namespace

bert_classifier::bert_classifier(const bert_classifier_options& options) : options_(options) {
  require_positive("bert classifier: width", options.width);
  require_positive("bert classifier: classes", options.classes);
  require_dropout("bert classifier: dropout", options.dropout);
}

std::vector<parameter_spec> bert_classifier::parameters() const {
  std::vector<parameter_spec> result;
  add_linear(result, "bert.pooler.dense", options_.width, options_.width);
  add_linear(result, "classifier", options_.width, options_.classes);
  return result;
}

tensor_spec bert_classifier::output(const tensor_spec& input) const {
  require_masked_tokens("bert classifier", input, options_.width);
  return {{input.shape[0], options_.classes}, element::f32};
}

at::Tensor bert_classifier::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                    const layer_context& context) const {
  const at::Tensor first = input.select(1, 0).narrow(1, 0, options_.width).contiguous();
  const at::Tensor pooled = apply_linear(parameters, pooler, first, context).tanh();
  return apply_linear(parameters, classifier, keyed_dropout(pooled, options_.dropout, context, 0), context);
}

std::string bert_classifier::signature() const {
  return fmt::format("bert classifier width={} classes={} dropout={}", options_.width, options_.classes,
                     options_.dropout);
}

}  // namespace hydra
