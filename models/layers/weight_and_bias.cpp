#include "models/layers/weight_and_bias.hpp"

#include "models/layers/linear_map.hpp"
#include "models/layers/norms.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

namespace hydra {

void add_linear(std::vector<parameter_spec>& parameters, const std::string& name, std::int64_t in, std::int64_t out) {
  parameters.push_back(linear_parameter(name + ".weight", out, in, {initial_value::kind::normal, 0.02}));
  parameters.push_back({name + ".bias", {out}, {}, {}});
}

void add_norm(std::vector<parameter_spec>& parameters, const std::string& name, std::int64_t width) {
  parameters.push_back({name + ".weight", {width}, {initial_value::kind::constant, 1}, {}});
  parameters.push_back({name + ".bias", {width}, {}, {}});
}

at::Tensor apply_linear(std::span<const at::Tensor> parameters, std::size_t weight, const at::Tensor& x,
                        const layer_context& context) {
  return linear_map(parameters, {weight, weight + 1}, x, context);
}

at::Tensor apply_norm(std::span<const at::Tensor> parameters, std::size_t weight, const at::Tensor& x, double eps) {
  return layer_norm(x, parameters[weight], parameters[weight + 1], eps);
}

void require_eps(std::string_view what, double eps) {
  if (!(eps > 0 && eps < 1)) refuse(fmt::format("{} is {}; it must be above 0 and below 1", what, eps));
}

}  // namespace hydra
