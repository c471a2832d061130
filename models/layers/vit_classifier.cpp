#include "models/layers/vit_classifier.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/weight_and_bias.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

namespace hydra {
namespace {

enum parameter : std::size_t { norm = 0, classifier = 2 };

}  // namespace

vit_classifier::vit_classifier(const vit_classifier_options& options) : options_(options) {
  require_positive("vit classifier: width", options.width);
  require_positive("vit classifier: classes", options.classes);
  require_eps("vit classifier: eps", options.eps);
}

std::vector<parameter_spec> vit_classifier::parameters() const {
  std::vector<parameter_spec> result;
  add_norm(result, "vit.layernorm", options_.width);
  add_linear(result, "classifier", options_.width, options_.classes);
  return result;
}

tensor_spec vit_classifier::output(const tensor_spec& input) const {
  require_input("vit classifier", input, element::f32, 3, options_.width);
  return {{input.shape[0], options_.classes}, element::f32};
}

at::Tensor vit_classifier::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                   const layer_context& context) const {
  const at::Tensor image = input.select(1, 0).contiguous();
  return apply_linear(parameters, classifier, apply_norm(parameters, norm, image, options_.eps), context);
}

std::string vit_classifier::signature() const {
  return fmt::format("vit classifier width={} classes={} eps={}", options_.width, options_.classes, options_.eps);
}

}  // namespace hydra
