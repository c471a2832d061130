#include "models/layers/vit_block.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/encoder_attention.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/weight_and_bias.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <array>
#include <optional>

namespace hydra {
namespace {

/// Indices in parameters(). The biases of query, key and value come last, because they are optional.
enum parameter : std::size_t {
  norm_before = 0,
  norm_after = 2,
  attention_dense = 4,
  intermediate = 6,
  output_dense = 8,
  query = 10,
  key = 11,
  value = 12,
  to_bias = 3  ///< offset from a projection's weight to its bias
};
enum site : std::uint32_t { probabilities, attention_output, network_output };

constexpr std::array projections{"attention.attention.query", "attention.attention.key", "attention.attention.value"};

}  // namespace

vit_block::vit_block(const vit_block_options& options) : options_(options) {
  require_encoder_options("vit block", options);
}

std::vector<parameter_spec> vit_block::parameters() const {
  const std::int64_t w = options_.width;
  std::vector<parameter_spec> result;
  add_norm(result, "layernorm_before", w);
  add_norm(result, "layernorm_after", w);
  add_linear(result, "attention.output.dense", w, w);
  add_linear(result, "intermediate.dense", w, options_.hidden);
  add_linear(result, "output.dense", options_.hidden, w);
  for (const std::string name : projections)
    result.push_back(linear_parameter(name + ".weight", w, w, {initial_value::kind::normal, 0.02}));
  if (options_.qkv_bias)
    for (const std::string name : projections) result.push_back({name + ".bias", {w}, {}, {}});
  return result;
}

tensor_spec vit_block::output(const tensor_spec& input) const {
  require_input("vit block", input, element::f32, 3, options_.width);
  return input;
}

at::Tensor vit_block::project(std::span<const at::Tensor> parameters, std::size_t which, const at::Tensor& x,
                              const layer_context& context) const {
  return linear_map(parameters, {which, options_.qkv_bias ? std::optional{which + to_bias} : std::nullopt}, x, context);
}

at::Tensor vit_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                              const layer_context& context) const {
  const auto linear = [&](parameter weight, const at::Tensor& x) {
    return apply_linear(parameters, weight, x, context);
  };
  const auto norm = [&](parameter weight, const at::Tensor& x) {
    return apply_norm(parameters, weight, x, options_.eps);
  };
  const at::Tensor x = norm(norm_before, input);
  const auto projected = [&](parameter which) { return project(parameters, which, x, context); };
  const at::Tensor attended = encoder_attention({projected(query), projected(key), projected(value)}, {},
                                                {options_.heads, options_.attention_dropout, probabilities}, context);
  const at::Tensor mixed = linear(attention_dense, attended);
  const at::Tensor y = input.add(keyed_dropout(mixed, options_.dropout, context, attention_output));
  const at::Tensor z = linear(output_dense, activate(options_.act, linear(intermediate, norm(norm_after, y))));
  return y.add(keyed_dropout(z, options_.dropout, context, network_output));
}

std::string vit_block::signature() const {
  return fmt::format("vit block width={} heads={} hidden={} act={} qkv_bias={} dropout={} attention_dropout={} eps={}",
                     options_.width, options_.heads, options_.hidden, to_string(options_.act), options_.qkv_bias,
                     options_.dropout, options_.attention_dropout, options_.eps);
}

}  // namespace hydra
