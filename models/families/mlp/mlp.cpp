#include "models/families/mlp/mlp.hpp"

#include "models/families/sample_kind.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/linear.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

chain build_mlp(const mlp_options& options, const data_source& data) {
  const tensor_spec input = data.sample_input();
  require_kind("mlp", data, sample_kind::numbers);
  require_input(fmt::format("mlp on {}: a sample", data.describe()), input, element::f32, 1);
  chain result{"mlp", input, cross_entropy()};
  std::int64_t in = input.shape[0];
  for (std::int64_t i = 0; i < options.layers; ++i) {
    const linear_options hidden{.in = in, .out = options.width, .gelu = true, .dropout = options.dropout};
    result.add(fmt::format("layers.{}.", i), std::make_shared<linear>(hidden));
    in = options.width;
  }
  const linear_options last{.in = in, .out = data.classes()};
  result.add(fmt::format("layers.{}.", options.layers), std::make_shared<linear>(last)).validate();
  return result;
}

}  // namespace

chain_description mlp(const mlp_options& options) {
  require_positive("mlp: layers", options.layers);
  require_positive("mlp: width", options.width);
  require_dropout("mlp: dropout", options.dropout);
  return {"mlp", 0, [options](const data_source& data) { return build_mlp(options, data); }};
}

}  // namespace hydra
