#include "models/layers/transformer_block.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/packed_tokens.hpp"
#include "models/layers/weight_and_bias.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/gelu_ops.h>
#include <fmt/format.h>

#include <cmath>

namespace hydra {
namespace {

/// Indices in parameters(); a bias follows its weight.
enum parameter : std::size_t { ln_1 = 0, c_attn = 2, attn_proj = 4, ln_2 = 6, c_fc = 8, mlp_proj = 10 };
enum site : std::uint32_t { attention_output, mlp_output, attention_shares };

at::Tensor mlp(std::span<const at::Tensor> parameters, const at::Tensor& x, const layer_context& context) {
  const at::Tensor hidden = at::_ops::gelu::call(linear_map_in_out(parameters, c_fc, x, context), "tanh");
  return linear_map_in_out(parameters, mlp_proj, hidden, context);
}

/// A projection: its weight and its bias.
void add_projection(std::vector<parameter_spec>& all, const std::string& name, std::int64_t in, std::int64_t out,
                    initial_value initial) {
  all.push_back({.name = name + ".weight",
                 .shape = {in, out},
                 .initial = initial,
                 .tied_to = {},
                 .linear = linear_weight::in_out});
  all.push_back({name + ".bias", {out}, {}, {}});
}

}  // namespace

transformer_block::transformer_block(const transformer_block_options& options) : options_(options) {
  require_positive("transformer block: width", options.width);
  require_heads("transformer block", options.heads, options.width);
  require_positive("transformer block: layers", options.layers);
  require_dropout("transformer block: dropout", options.dropout);
  require_dropout("transformer block: attention_dropout", options.attention_dropout);
}

std::vector<parameter_spec> transformer_block::parameters() const {
  const std::int64_t w = options_.width;
  const initial_value normal{initial_value::kind::normal, 0.02};
  // GPT-2 keeps the variance of the residual stream independent of the depth.
  const initial_value residual{initial_value::kind::normal,
                               0.02 / std::sqrt(2.0 * static_cast<double>(options_.layers))};
  std::vector<parameter_spec> result;
  add_norm(result, "ln_1", w);
  add_projection(result, "attn.c_attn", w, 3 * w, normal);
  add_projection(result, "attn.c_proj", w, w, residual);
  add_norm(result, "ln_2", w);
  add_projection(result, "mlp.c_fc", w, 4 * w, normal);
  add_projection(result, "mlp.c_proj", 4 * w, w, residual);
  return result;
}

tensor_spec transformer_block::output(const tensor_spec& input) const {
  require_packed_tokens("transformer block", input, options_.width);
  return input;
}

attention_heads transformer_block::heads_of(std::span<const at::Tensor> parameters, const at::Tensor& x,
                                            const layer_context& context) const {
  const std::vector<at::Tensor> qkv = linear_map_in_out(parameters, c_attn, x, context).split(options_.width, 2);
  const auto heads = [&](const at::Tensor& t) { return split_heads(t, options_.heads); };
  return {heads(qkv[0]), heads(qkv[1]), heads(qkv[2])};
}

at::Tensor transformer_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                      const layer_context& context) const {
  const auto [vectors, starts] = split_starts(input, options_.width);
  const attention_heads heads = heads_of(parameters, apply_norm(parameters, ln_1, vectors, options_.eps), context);
  const at::Tensor mixed =
      join_heads(dropped_attention(heads, options_.attention_dropout, context, attention_shares, starts));
  const at::Tensor attended = linear_map_in_out(parameters, attn_proj, mixed, context);
  const at::Tensor x = vectors.add(keyed_dropout(attended, options_.dropout, context, attention_output));
  const at::Tensor y = mlp(parameters, apply_norm(parameters, ln_2, x, options_.eps), context);
  return join_starts({x.add(keyed_dropout(y, options_.dropout, context, mlp_output)), starts});
}

at::Tensor transformer_block::decode(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                     const layer_context& context, decode_memory& memory) const {
  const at::NoGradGuard no_grad;
  const attention_heads heads = heads_of(parameters, apply_norm(parameters, ln_1, input, options_.eps), context);
  const at::Tensor mixed = join_heads(growing_attention(heads, memory));
  const at::Tensor x = input.add(linear_map_in_out(parameters, attn_proj, mixed, context));
  return x.add(mlp(parameters, apply_norm(parameters, ln_2, x, options_.eps), context));
}

std::string transformer_block::signature() const {
  const std::string attention =
      options_.attention_dropout > 0 ? fmt::format(" attention_dropout={}", options_.attention_dropout) : "";
  return fmt::format("transformer block width={} heads={} dropout={}{}{}", options_.width, options_.heads,
                     options_.dropout, attention, eps_unless_usual(options_.eps));
}

}  // namespace hydra
