#include "models/layers/linear.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/linear_map.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu_ops.h>
#include <fmt/format.h>

#include <cmath>

namespace hydra {

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
  at::Tensor y = linear_map(parameters, {0, 1}, input, context);
  if (options_.gelu) y = at::_ops::gelu::call(y, "none");
  return keyed_dropout(y, options_.dropout, context, 0);
}

std::string linear::signature() const {
  return fmt::format("linear in={} out={} gelu={} dropout={}", options_.in, options_.out, options_.gelu,
                     options_.dropout);
}

}  // namespace hydra
