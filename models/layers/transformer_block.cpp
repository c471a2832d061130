#include "models/layers/transformer_block.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/layer_norm.hpp"
#include "runtime/base/fault.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/gelu_ops.h>
#include <fmt/format.h>

#include <cmath>

namespace hydra {
namespace {

/// Indices in parameters(); a bias follows its weight.
enum parameter : std::size_t { ln_1 = 0, c_attn = 2, attn_proj = 4, ln_2 = 6, c_fc = 8, mlp_proj = 10 };
enum site : std::uint32_t { attention_output, mlp_output, attention_shares };

/// x @ weight + bias over the last dimension, weight [in, out].
at::Tensor project(std::span<const at::Tensor> parameters, parameter weight, const at::Tensor& x) {
  const at::Tensor rows = x.reshape({-1, x.size(-1)});
  const at::Tensor y = at::_ops::addmm::call(parameters[weight + 1], rows, parameters[weight], 1, 1);
  return y.view({x.size(0), x.size(1), -1});
}

at::Tensor mlp(std::span<const at::Tensor> parameters, const at::Tensor& x) {
  return project(parameters, mlp_proj, at::_ops::gelu::call(project(parameters, c_fc, x), "tanh"));
}

}  // namespace

transformer_block::transformer_block(const transformer_block_options& options) : options_(options) {
  require_positive("transformer block: width", options.width);
  require_positive("transformer block: heads", options.heads);
  require_positive("transformer block: layers", options.layers);
  require_dropout("transformer block: dropout", options.dropout);
  require_dropout("transformer block: attention_dropout", options.attention_dropout);
  if (options.width % options.heads != 0)
    throw fault_error{fault_code::bad_input,
                      fmt::format("transformer block: {} heads do not divide width {}", options.heads, options.width)};
}

std::vector<parameter_spec> transformer_block::parameters() const {
  const std::int64_t w = options_.width;
  const initial_value zero, one{initial_value::kind::constant, 1}, normal{initial_value::kind::normal, 0.02};
  // GPT-2 keeps the variance of the residual stream independent of the depth.
  const initial_value residual{initial_value::kind::normal,
                               0.02 / std::sqrt(2.0 * static_cast<double>(options_.layers))};
  return {{"ln_1.weight", {w}, one, {}},
          {"ln_1.bias", {w}, zero, {}},
          {"attn.c_attn.weight", {w, 3 * w}, normal, {}},
          {"attn.c_attn.bias", {3 * w}, zero, {}},
          {"attn.c_proj.weight", {w, w}, residual, {}},
          {"attn.c_proj.bias", {w}, zero, {}},
          {"ln_2.weight", {w}, one, {}},
          {"ln_2.bias", {w}, zero, {}},
          {"mlp.c_fc.weight", {w, 4 * w}, normal, {}},
          {"mlp.c_fc.bias", {4 * w}, zero, {}},
          {"mlp.c_proj.weight", {4 * w, w}, residual, {}},
          {"mlp.c_proj.bias", {w}, zero, {}}};
}

tensor_spec transformer_block::output(const tensor_spec& input) const {
  require_input("transformer block", input, element::f32, 3, options_.width);
  return input;
}

at::Tensor transformer_block::normalise(std::span<const at::Tensor> parameters, std::size_t weight,
                                        const at::Tensor& x) const {
  return layer_norm(x, parameters[weight], parameters[weight + 1], options_.eps);
}

attention_heads transformer_block::heads_of(std::span<const at::Tensor> parameters, const at::Tensor& x) const {
  const std::vector<at::Tensor> qkv = project(parameters, c_attn, x).split(options_.width, 2);
  const auto heads = [&](const at::Tensor& t) { return split_heads(t, options_.heads); };
  return {heads(qkv[0]), heads(qkv[1]), heads(qkv[2])};
}

at::Tensor transformer_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                      const layer_context& context) const {
  const attention_heads heads = heads_of(parameters, normalise(parameters, ln_1, input));
  const at::Tensor mixed = join_heads(dropped_attention(heads, options_.attention_dropout, context, attention_shares));
  const at::Tensor attended = project(parameters, attn_proj, mixed);
  const at::Tensor x = input.add(keyed_dropout(attended, options_.dropout, context, attention_output));
  const at::Tensor y = mlp(parameters, normalise(parameters, ln_2, x));
  return x.add(keyed_dropout(y, options_.dropout, context, mlp_output));
}

at::Tensor transformer_block::decode(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                     decode_memory& memory) const {
  const at::NoGradGuard no_grad;
  const attention_heads heads = heads_of(parameters, normalise(parameters, ln_1, input));
  const at::Tensor x = input.add(project(parameters, attn_proj, join_heads(growing_attention(heads, memory))));
  return x.add(mlp(parameters, normalise(parameters, ln_2, x)));
}

std::string transformer_block::signature() const {
  const std::string attention =
      options_.attention_dropout > 0 ? fmt::format(" attention_dropout={}", options_.attention_dropout) : "";
  return fmt::format("transformer block width={} heads={} dropout={}{}{}", options_.width, options_.heads,
                     options_.dropout, attention, eps_unless_usual(options_.eps));
}

}  // namespace hydra
