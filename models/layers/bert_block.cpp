#include "models/layers/bert_block.hpp"

#include "models/dropout.hpp"
#include "models/layers/encoder_attention.hpp"
#include "models/layers/masked_tokens.hpp"
#include "models/layers/weight_and_bias.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

namespace hydra {
namespace {

/// Indices in parameters(); a bias follows its weight.
enum parameter : std::size_t {
  query = 0,
  key = 2,
  value = 4,
  attention_dense = 6,
  attention_norm = 8,
  intermediate = 10,
  output_dense = 12,
  output_norm = 14
};
enum site : std::uint32_t { probabilities, attention_output, network_output };

}  // namespace

bert_block::bert_block(const bert_block_options& options) : options_(options) {
  require_encoder_options("bert block", options);
}

std::vector<parameter_spec> bert_block::parameters() const {
  const std::int64_t w = options_.width;
  std::vector<parameter_spec> result;
  for (const char* name : {"query", "key", "value"}) add_linear(result, fmt::format("attention.self.{}", name), w, w);
  add_linear(result, "attention.output.dense", w, w);
  add_norm(result, "attention.output.LayerNorm", w);
  add_linear(result, "intermediate.dense", w, options_.hidden);
  add_linear(result, "output.dense", options_.hidden, w);
  add_norm(result, "output.LayerNorm", w);
  return result;
}

tensor_spec bert_block::output(const tensor_spec& input) const {
  require_masked_tokens("bert block", input, options_.width);
  return input;
}

at::Tensor bert_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                               const layer_context& context) const {
  const auto linear = [&](parameter weight, const at::Tensor& x) {
    return apply_linear(parameters, weight, x, context);
  };
  const auto add_and_norm = [&](const at::Tensor& x, const at::Tensor& y, parameter weight, site where) {
    return apply_norm(parameters, weight, keyed_dropout(y, options_.dropout, context, where).add(x), options_.eps);
  };
  const auto [x, mask] = split_mask(input);
  const at::Tensor attended =
      encoder_attention({linear(query, x), linear(key, x), linear(value, x)}, key_bias(mask),
                        {options_.heads, options_.attention_dropout, probabilities}, context);
  const at::Tensor y = add_and_norm(x, linear(attention_dense, attended), attention_norm, attention_output);
  const at::Tensor z = linear(output_dense, activate(options_.act, linear(intermediate, y)));
  return join_mask({add_and_norm(y, z, output_norm, network_output), mask});
}

std::string bert_block::signature() const {
  return fmt::format("bert block width={} heads={} hidden={} act={} dropout={} attention_dropout={} eps={}",
                     options_.width, options_.heads, options_.hidden, to_string(options_.act), options_.dropout,
                     options_.attention_dropout, options_.eps);
}

}  // namespace hydra
