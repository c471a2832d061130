#include "models/layers/pooled_head.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/linear_map.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <cmath>

namespace hydra {

pooled_head::pooled_head(const pooled_head_options& options) : options_(options) {
  require_positive("pooled head: in", options.in);
  require_positive("pooled head: out", options.out);
}

std::vector<parameter_spec> pooled_head::parameters() const {
  const initial_value initial{initial_value::kind::uniform, 1 / std::sqrt(static_cast<double>(options_.in))};
  return {linear_parameter("weight", options_.out, options_.in, initial), {"bias", {options_.out}, initial, {}}};
}

tensor_spec pooled_head::output(const tensor_spec& input) const {
  require_images("pooled head", input, options_.in);
  return {{input.shape[0], options_.out}, element::f32};
}

at::Tensor pooled_head::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                const layer_context& context) const {
  return linear_map(parameters, {0, 1}, input.mean({2, 3}), context);
}

std::string pooled_head::signature() const {
  return fmt::format("pooled head in={} out={}", options_.in, options_.out);
}

}  // namespace hydra
