#include "models/decode_memory.hpp"
#include "models/layers/llama_block.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <string>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const llama_block_options grouped{.width = 8, .heads = 4, .kv_heads = 2, .head_size = 6, .hidden = 10, .eps = 1e-3};

llama_block_options everything() {
  llama_block_options o = grouped;
  o.qkv_bias = o.output_bias = o.mlp_bias = o.qk_norm = true;
  return o;
}

llama_block_options gemma() {
  llama_block_options o = grouped;
  o.attention = {.window = 3, .scale = 0.4, .score_cap = 0.5};
  o.act = activation::gelu_tanh;
  o.qk_norm = o.offset_norms = o.output_norms = true;
  return o;
}

llama_block_options phi() {
  llama_block_options o = grouped;
  o.rotated = 4;
  o.fused = true;
  return o;
}

// A second implementation of the block, in basic operations; parameters by name.

using parameter_map = std::map<std::string, at::Tensor>;

parameter_map by_name(const llama_block& block, const std::vector<at::Tensor>& values) {
  parameter_map result;
  const auto specs = block.parameters();
  for (std::size_t i = 0; i < specs.size(); ++i) result[specs[i].name] = values[i];
  return result;
}

at::Tensor plain_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return x.div(x.square().mean({-1}, true).add(eps).sqrt()).mul(weight);
}

at::Tensor plain_linear(parameter_map& p, const std::string& name, const at::Tensor& x) {
  const at::Tensor y = x.matmul(p.at(name + ".weight").t());
  return p.contains(name + ".bias") ? y.add(p.at(name + ".bias")) : y;
}

at::Tensor plain_norm(parameter_map& p, const std::string& name, const at::Tensor& x, const llama_block_options& o) {
  const at::Tensor& weight = p.at(name + ".weight");
  return plain_norm(x, o.offset_norms ? weight.add(1) : weight, o.eps);
}

/// The maps of a fused one under their own names.
void divide(parameter_map& p, const std::string& fused,
            const std::vector<std::pair<std::string, std::int64_t>>& parts) {
  const at::Tensor all = p.at(fused);
  std::int64_t first = 0;
  for (const auto& [name, rows] : parts) {
    p[name] = all.narrow(0, first, rows);
    first += rows;
  }
  REQUIRE(first == all.size(0));
}

/// Tokens [tokens, size] of head `h`, normalised and rotated.
at::Tensor plain_head(parameter_map& p, const std::string& which, const at::Tensor& all, std::int64_t h,
                      const llama_block_options& o) {
  at::Tensor x = all.narrow(1, h * o.head_size, o.head_size);
  if (o.qk_norm) x = plain_norm(p, "self_attn." + which + "_norm", x, o);
  const rotary positions{{.size = o.rotated > 0 ? o.rotated : o.head_size, .theta = o.rope_theta}};
  return rotated(x.unsqueeze(0).unsqueeze(0), positions.turns_at(consecutive_positions(0, x.size(0), x), x)).squeeze();
}

at::Tensor plain_attention(parameter_map& p, const at::Tensor& x, const llama_block_options& o) {
  const std::int64_t tokens = x.size(0);
  const at::Tensor q = plain_linear(p, "self_attn.q_proj", x), k = plain_linear(p, "self_attn.k_proj", x);
  const at::Tensor v = plain_linear(p, "self_attn.v_proj", x), mixed = zeros({tokens, q.size(1)}, at::kDouble);
  const at::Tensor ones = zeros({tokens, tokens}, at::kDouble).fill_(1);
  const at::Tensor past = o.attention.window > 0 ? ones.tril(-o.attention.window) : ones.mul(0);
  const at::Tensor hidden = ones.triu(1).add(past).to(at::kBool);
  const double scale = o.attention.scale > 0 ? o.attention.scale : 1 / std::sqrt(o.head_size),
               cap = o.attention.score_cap;
  for (std::int64_t h = 0; h < o.heads; ++h) {
    const std::int64_t shared = h / (o.heads / o.kv_heads);
    at::Tensor scores = plain_head(p, "q", q, h, o).matmul(plain_head(p, "k", k, shared, o).t()).mul(scale);
    if (cap > 0) scores = scores.div(cap).tanh().mul(cap);
    const at::Tensor weights = scores.masked_fill(hidden, -INFINITY).softmax(-1);
    mixed.narrow(1, h * o.head_size, o.head_size).copy_(weights.matmul(v.narrow(1, shared * o.head_size, o.head_size)));
  }
  return plain_linear(p, "self_attn.o_proj", mixed);
}

at::Tensor plain_mlp(parameter_map& p, const at::Tensor& x, const llama_block_options& o) {
  const at::Tensor gate = plain_linear(p, "mlp.gate_proj", x), up = plain_linear(p, "mlp.up_proj", x);
  return plain_linear(p, "mlp.down_proj", activate(o.act, gate).mul(up));
}

at::Tensor plain_block(parameter_map p, const at::Tensor& x, const llama_block_options& o) {
  if (o.fused) {
    const std::int64_t queries = o.heads * o.head_size, keys = o.kv_heads * o.head_size;
    divide(
        p, "self_attn.qkv_proj.weight",
        {{"self_attn.q_proj.weight", queries}, {"self_attn.k_proj.weight", keys}, {"self_attn.v_proj.weight", keys}});
    divide(p, "mlp.gate_up_proj.weight", {{"mlp.gate_proj.weight", o.hidden}, {"mlp.up_proj.weight", o.hidden}});
  }
  const at::Tensor attended = plain_attention(p, plain_norm(p, "input_layernorm", x, o), o);
  if (!o.output_norms) {
    const at::Tensor y = x.add(attended);
    return y.add(plain_mlp(p, plain_norm(p, "post_attention_layernorm", y, o), o));
  }
  const at::Tensor y = x.add(plain_norm(p, "post_attention_layernorm", attended, o));
  const at::Tensor z = plain_mlp(p, plain_norm(p, "pre_feedforward_layernorm", y, o), o);
  return y.add(plain_norm(p, "post_feedforward_layernorm", z, o));
}

}  // namespace

TEST_CASE("a llama block equals its second implementation in basic operations") {
  for (const auto& options : {grouped, everything(), gemma(), phi()}) {
    const llama_block block{options};
    const auto p = random_parameters(block, 1, at::kDouble);
    const at::Tensor x = random_tensor({1, 5, 8}, 9, at::kDouble);
    CHECK(distance(block.forward(p, x, {})[0], plain_block(by_name(block, p), x[0], options)) < 1e-10);
  }
}

TEST_CASE("a llama block conforms") {
  const at::Tensor x = random_tensor({2, 5, 8}, 9);
  for (const auto& options : {grouped, everything(), gemma(), phi()}) conforms(llama_block{options}, x);
}

TEST_CASE("a llama block computes the same bits again, with and without gradients") {
  const llama_block block{GENERATE(everything(), gemma(), phi())};
  const auto p = random_parameters(block, 1);
  const at::Tensor x = random_tensor({2, 5, 8}, 9);
  const at::Tensor with_graph = block.forward(p, x, {});
  for (const at::Tensor& parameter : p) parameter.set_requires_grad(false);
  CHECK(same_bits(with_graph, block.forward(p, x, {})));
}

TEST_CASE("a llama block gives the same for a text in pieces as for the whole text") {
  const llama_block block{GENERATE(everything(), gemma(), phi())};
  const auto p = random_parameters(block, 1);
  const at::Tensor x = random_tensor({2, 70, 8}, 9), whole = block.forward(p, x, {});
  decode_memory memory;
  for (const std::int64_t fresh : {5, 1, 1, 3, 60}) {
    const at::Tensor y = block.decode(p, x.narrow(1, memory.seen, fresh), {.training = false}, memory);
    CHECK(distance(y, whole.narrow(1, memory.seen, fresh)) < 1e-5 * number(whole.abs().max()));
    memory.seen += fresh;
  }
}

TEST_CASE("a llama block refuses heads that do not divide and inputs of another width") {
  llama_block_options odd = grouped;
  odd.kv_heads = 3;
  CHECK_THROWS_WITH(llama_block{odd}, Contains("3 key-value heads do not divide 4 heads"));
  odd = grouped;
  odd.head_size = 5;
  CHECK_THROWS_WITH(llama_block{odd}, Contains("5 is odd"));
  odd = grouped;
  odd.rotated = 8;
  CHECK_THROWS_WITH(llama_block{odd}, Contains("8 of 6 features"));
  CHECK_THROWS_AS(llama_block{grouped}.output({{2, 5, 7}, element::f32}), fault_error);
}
