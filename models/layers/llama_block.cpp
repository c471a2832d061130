#include "models/layers/llama_block.hpp"

#include "models/decode_memory.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/norms.hpp"
#include "models/layers/packed_tokens.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace hydra {
namespace {

constexpr initial_value zero{}, one{initial_value::kind::constant, 1}, normal{initial_value::kind::normal, 0.02};

std::int64_t rotated_of(const llama_block_options& o) { return o.rotated > 0 ? o.rotated : o.head_size; }

/// Collects the parameters of a block in the order in which they are used.
class parameter_list {
 public:
  explicit parameter_list(const llama_block_options& options) : options_(options) {}

  void norm(const std::string& name, std::int64_t size) {
    all_.push_back({name + ".weight", {size}, options_.offset_norms ? zero : one, {}});
  }
  void linear(const std::string& name, std::int64_t out, std::int64_t in, bool biased) {
    all_.push_back(linear_parameter(name + ".weight", out, in, normal));
    if (biased) all_.push_back({name + ".bias", {out}, {}, {}});
  }
  std::vector<parameter_spec> take() { return std::move(all_); }

 private:
  const llama_block_options& options_;
  std::vector<parameter_spec> all_;
};

void add_attention(parameter_list& all, const llama_block_options& o) {
  const std::int64_t queries = o.heads * o.head_size, keys = o.kv_heads * o.head_size;
  if (o.fused) {
    all.linear("self_attn.qkv_proj", queries + 2 * keys, o.width, o.qkv_bias);
  } else {
    all.linear("self_attn.q_proj", queries, o.width, o.qkv_bias);
    all.linear("self_attn.k_proj", keys, o.width, o.qkv_bias);
    all.linear("self_attn.v_proj", keys, o.width, o.qkv_bias);
  }
  if (o.qk_norm) all.norm("self_attn.q_norm", o.head_size);
  if (o.qk_norm) all.norm("self_attn.k_norm", o.head_size);
  all.linear("self_attn.o_proj", o.width, queries, o.output_bias);
}

void add_mlp(parameter_list& all, const llama_block_options& o) {
  if (o.fused) {
    all.linear("mlp.gate_up_proj", 2 * o.hidden, o.width, o.mlp_bias);
  } else {
    all.linear("mlp.gate_proj", o.hidden, o.width, o.mlp_bias);
    all.linear("mlp.up_proj", o.hidden, o.width, o.mlp_bias);
  }
  all.linear("mlp.down_proj", o.width, o.hidden, o.mlp_bias);
}

}  // namespace

/// Returns a block's parameters in the order of parameters().
class block_parameters {
 public:
  block_parameters(std::span<const at::Tensor> parameters, const layer_context& context)
      : parameters_(parameters), context_(context) {}

  const at::Tensor& next() { return parameters_[index_++]; }

  /// x @ weight^T (+ bias) with the next weight.
  at::Tensor project(const at::Tensor& x, bool biased) {
    linear_place place{index_++};
    if (biased) place.bias = index_++;
    return linear_map(parameters_, place, x, context_);
  }

 private:
  std::span<const at::Tensor> parameters_;
  const layer_context& context_;
  std::size_t index_ = 0;
};

llama_block::llama_block(const llama_block_options& options)
    : options_(options),
      positions_({.size = rotated_of(options), .theta = options.rope_theta, .scaling = options.scaling}) {
  require_positive("llama block: width", options.width);
  require_positive("llama block: heads", options.heads);
  require_positive("llama block: kv_heads", options.kv_heads);
  require_positive("llama block: hidden", options.hidden);
  if (options.heads % options.kv_heads != 0)
    refuse(fmt::format("llama block: {} key-value heads do not divide {} heads", options.kv_heads, options.heads));
  if (options.rotated > options.head_size)
    refuse(
        fmt::format("llama block: {} of {} features of a head cannot be rotated", options.rotated, options.head_size));
}

std::vector<parameter_spec> llama_block::parameters() const {
  parameter_list all{options_};
  all.norm("input_layernorm", options_.width);
  add_attention(all, options_);
  all.norm("post_attention_layernorm", options_.width);
  if (options_.output_norms) all.norm("pre_feedforward_layernorm", options_.width);
  add_mlp(all, options_);
  if (options_.output_norms) all.norm("post_feedforward_layernorm", options_.width);
  return all.take();
}

tensor_spec llama_block::output(const tensor_spec& input) const {
  require_packed_tokens("llama block", input, options_.width);
  return input;
}

at::Tensor llama_block::norm(block_parameters& p, const at::Tensor& x) const {
  return rms_norm(x, p.next(), options_.eps, options_.offset_norms);
}

std::vector<at::Tensor> llama_block::parts(block_parameters& p, const at::Tensor& x, bool biased,
                                           std::initializer_list<std::int64_t> sizes) const {
  if (options_.fused) return p.project(x, biased).split_with_sizes(sizes, -1);
  std::vector<at::Tensor> all;
  while (all.size() < sizes.size()) all.push_back(p.project(x, biased));
  return all;
}

attention_heads llama_block::heads_of(block_parameters& p, const at::Tensor& x, const at::Tensor& positions) const {
  const llama_block_options& o = options_;
  const std::int64_t queries = o.heads * o.head_size, keys = o.kv_heads * o.head_size;
  const auto flat = parts(p, x, o.qkv_bias, {queries, keys, keys});
  at::Tensor q = split_heads(flat[0], o.heads), k = split_heads(flat[1], o.kv_heads);
  if (o.qk_norm) q = norm(p, q);
  if (o.qk_norm) k = norm(p, k);
  const rotary_turns turns = positions_.turns_at(positions, q);
  return {rotated(q, turns), rotated(k, turns), split_heads(flat[2], o.kv_heads)};
}

at::Tensor llama_block::mlp(block_parameters& p, const at::Tensor& x) const {
  const llama_block_options& o = options_;
  auto gate_and_up = parts(p, x, o.mlp_bias, {o.hidden, o.hidden});
  gate_and_up[0] = activate(o.act, gate_and_up[0]);
  return p.project(gate_and_up[0].mul(gate_and_up[1]), o.mlp_bias);
}

at::Tensor llama_block::run(std::span<const at::Tensor> parameters, const at::Tensor& input,
                            const at::Tensor& positions, const layer_context& context,
                            const attention_function& attend) const {
  block_parameters p{parameters, context};
  const auto added_to = [&](const at::Tensor& x, const at::Tensor& y) {
    return x.add(options_.output_norms ? norm(p, y) : y);
  };
  const at::Tensor mixed = attend(heads_of(p, norm(p, input), positions));
  const at::Tensor attended = added_to(input, p.project(join_heads(mixed), options_.output_bias));
  return added_to(attended, mlp(p, norm(p, attended)));
}

at::Tensor llama_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                const layer_context& context) const {
  const auto [vectors, starts] = split_starts(input, options_.width);
  const at::Tensor positions =
      starts.defined() ? positions_in_records(starts) : consecutive_positions(0, input.size(1), input);
  const auto attend = [&](const attention_heads& h) { return causal_attention(h, starts, options_.attention); };
  return join_starts({run(parameters, vectors, positions, context, attend), starts});
}

at::Tensor llama_block::decode(std::span<const at::Tensor> parameters, const at::Tensor& input,
                               const layer_context& context, decode_memory& memory) const {
  const at::NoGradGuard no_grad;
  return run(parameters, input, consecutive_positions(memory.seen, input.size(1), input), context,
             [&](const attention_heads& h) { return growing_attention(h, memory, options_.attention); });
}

std::string llama_block::signature() const {
  const llama_block_options& o = options_;
  const rope_scaling& r = o.scaling;
  return fmt::format(
      "llama block width={} heads={} kv_heads={} head_size={} hidden={} theta={} scaling={} {} {} {} {} eps={} "
      "qkv_bias={} output_bias={} mlp_bias={} qk_norm={} window={} scale={} score_cap={} rotated={} factors={} {} "
      "act={} offset_norms={} output_norms={} fused={}",
      o.width, o.heads, o.kv_heads, o.head_size, o.hidden, o.rope_theta, to_string(r.how), r.factor,
      r.low_frequency_factor, r.high_frequency_factor, r.original_context, o.eps, o.qkv_bias, o.output_bias, o.mlp_bias,
      o.qk_norm, o.attention.window, o.attention.scale, o.attention.score_cap, rotated_of(o), fmt::join(r.factors, ","),
      r.magnitude, to_string(o.act), o.offset_norms, o.output_norms, o.fused);
}

}  // namespace hydra
