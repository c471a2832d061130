#include "models/layers/llama_block.hpp"

#include "models/decode_memory.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/packed_tokens.hpp"
#include "models/layers/rms_norm.hpp"
#include "runtime/base/fault.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/silu_ops.h>
#include <fmt/format.h>

#include <optional>

namespace hydra {
namespace {

constexpr initial_value one{initial_value::kind::constant, 1}, normal{initial_value::kind::normal, 0.02};

/// Returns a block's parameters in the order of parameters().
class parameter_reader {
 public:
  parameter_reader(std::span<const at::Tensor> parameters, const layer_context& context)
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

void add_projection(std::vector<parameter_spec>& all, const std::string& name, std::vector<std::int64_t> shape,
                    bool biased) {
  all.push_back(linear_parameter(name + ".weight", shape[0], shape[1], normal));
  if (biased) all.push_back({name + ".bias", {shape[0]}, {}, {}});
}

}  // namespace

llama_block::llama_block(const llama_block_options& options)
    : options_(options),
      positions_({.size = options.head_size, .theta = options.rope_theta, .scaling = options.scaling}) {
  require_positive("llama block: width", options.width);
  require_positive("llama block: heads", options.heads);
  require_positive("llama block: kv_heads", options.kv_heads);
  require_positive("llama block: hidden", options.hidden);
  if (options.heads % options.kv_heads != 0)
    throw fault_error{fault_code::bad_input, fmt::format("llama block: {} key-value heads do not divide {} heads",
                                                         options.kv_heads, options.heads)};
}

std::vector<parameter_spec> llama_block::parameters() const {
  const llama_block_options& o = options_;
  std::vector<parameter_spec> all{{"input_layernorm.weight", {o.width}, one, {}}};
  add_projection(all, "self_attn.q_proj", {o.heads * o.head_size, o.width}, o.qkv_bias);
  add_projection(all, "self_attn.k_proj", {o.kv_heads * o.head_size, o.width}, o.qkv_bias);
  add_projection(all, "self_attn.v_proj", {o.kv_heads * o.head_size, o.width}, o.qkv_bias);
  if (o.qk_norm) all.push_back({"self_attn.q_norm.weight", {o.head_size}, one, {}});
  if (o.qk_norm) all.push_back({"self_attn.k_norm.weight", {o.head_size}, one, {}});
  add_projection(all, "self_attn.o_proj", {o.width, o.heads * o.head_size}, o.output_bias);
  all.push_back({"post_attention_layernorm.weight", {o.width}, one, {}});
  add_projection(all, "mlp.gate_proj", {o.hidden, o.width}, o.mlp_bias);
  add_projection(all, "mlp.up_proj", {o.hidden, o.width}, o.mlp_bias);
  add_projection(all, "mlp.down_proj", {o.width, o.hidden}, o.mlp_bias);
  return all;
}

tensor_spec llama_block::output(const tensor_spec& input) const {
  require_packed_tokens("llama block", input, options_.width);
  return input;
}

at::Tensor llama_block::run(std::span<const at::Tensor> parameters, const at::Tensor& input,
                            const at::Tensor& positions, const layer_context& context,
                            const attention_function& attend) const {
  const llama_block_options& o = options_;
  parameter_reader p{parameters, context};
  const at::Tensor x = rms_norm(input, p.next(), o.eps);
  at::Tensor q = split_heads(p.project(x, o.qkv_bias), o.heads);
  at::Tensor k = split_heads(p.project(x, o.qkv_bias), o.kv_heads);
  const at::Tensor v = split_heads(p.project(x, o.qkv_bias), o.kv_heads);
  if (o.qk_norm) q = rms_norm(q, p.next(), o.eps);
  if (o.qk_norm) k = rms_norm(k, p.next(), o.eps);
  const at::Tensor mixed = attend({positions_.rotate(q, positions), positions_.rotate(k, positions), v});
  const at::Tensor attended = input.add(p.project(join_heads(mixed), o.output_bias));
  const at::Tensor y = rms_norm(attended, p.next(), o.eps);
  const at::Tensor gate = at::_ops::silu::call(p.project(y, o.mlp_bias));
  return attended.add(p.project(gate.mul(p.project(y, o.mlp_bias)), o.mlp_bias));
}

at::Tensor llama_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                const layer_context& context) const {
  const auto [vectors, starts] = split_starts(input, options_.width);
  const at::Tensor positions =
      starts.defined() ? positions_in_records(starts) : consecutive_positions(0, input.size(1), input);
  const auto attend = [&](const attention_heads& h) { return causal_attention(h, starts); };
  return join_starts({run(parameters, vectors, positions, context, attend), starts});
}

at::Tensor llama_block::decode(std::span<const at::Tensor> parameters, const at::Tensor& input,
                               const layer_context& context, decode_memory& memory) const {
  const at::NoGradGuard no_grad;
  return run(parameters, input, consecutive_positions(memory.seen, input.size(1), input), context,
             [&](const attention_heads& h) { return growing_attention(h, memory); });
}

std::string llama_block::signature() const {
  const llama_block_options& o = options_;
  return fmt::format(
      "llama block width={} heads={} kv_heads={} head_size={} hidden={} theta={} scaling={} {} {} {} {} eps={} "
      "qkv_bias={} output_bias={} mlp_bias={} qk_norm={}",
      o.width, o.heads, o.kv_heads, o.head_size, o.hidden, o.rope_theta, to_string(o.scaling.how), o.scaling.factor,
      o.scaling.low_frequency_factor, o.scaling.high_frequency_factor, o.scaling.original_context, o.eps, o.qkv_bias,
      o.output_bias, o.mlp_bias, o.qk_norm);
}

}  // namespace hydra
