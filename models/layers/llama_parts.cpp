#include "models/layers/llama_parts.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/norms.hpp"
#include "models/layers/packed_tokens.hpp"
#include "models/layers/residual_piece.hpp"
#include "models/pieces/piece_parameters.hpp"
#include "models/pieces/residual_term.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {
namespace {

std::int64_t rotated_of(const llama_block_options& o) { return o.rotated > 0 ? o.rotated : o.head_size; }

/// Attention or MLP of a piece.
class llama_term final : public residual_term {
 public:
  enum class part : std::uint8_t { attention, mlp };

  llama_term(const llama_block_options& options, part which, const piece_place& piece, const std::string& prefix)
      : options_(options), which_(which), whole_(piece.whole()), parts_(options, piece, prefix) {}

  std::vector<parameter_spec> parameters() const override {
    return which_ == part::mlp ? parts_.parameters_of_mlp() : parts_.parameters_of_attention();
  }

  at::Tensor norm(std::span<const at::Tensor> parameters, const at::Tensor& x) const override {
    return normed(parameters.first(1), x);
  }
  std::size_t norm_size() const override { return 1; }

  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& n, const at::Tensor& starts,
                const layer_context& context) const override {
    block_parameters p{parameters, context};
    if (whole_) p.next();  // the norm
    if (which_ == part::mlp) return parts_.mlp(p, n);
    const at::Tensor positions =
        starts.defined() ? positions_in_records(starts) : consecutive_positions(0, n.size(1), n);
    return parts_.attention(p, n, positions,
                            [&](const attention_heads& h) { return causal_attention(h, starts, options_.attention); });
  }

  bool norms_sum() const override { return options_.output_norms; }
  at::Tensor norm_of_sum(std::span<const at::Tensor> parameters, const at::Tensor& sum) const override {
    return normed(parameters.last(1), sum);
  }

  std::string name() const override { return which_ == part::mlp ? "llama mlp" : "llama attention"; }
  std::string options() const override {
    return which_ == part::mlp ? fmt::format("own={} {}", parts_.hidden(), signature_of(options_))
                               : signature_of(options_);
  }

 private:
  at::Tensor normed(std::span<const at::Tensor> weight, const at::Tensor& x) const {
    const layer_context any;
    block_parameters p{weight, any};
    return parts_.norm(p, x);
  }

  llama_block_options options_;
  part which_;
  bool whole_;
  llama_parts parts_;
};

}  // namespace

/// Collects the parameters of a piece in the order in which they are used.
class llama_parts::parameter_list {
 public:
  explicit parameter_list(const llama_parts& of) : of_(of), all_(of.piece_, of.prefix_) {}

  void norm_of_vectors(const std::string& name) {
    if (of_.piece_.whole()) all_.add(norm_weight(name, of_.options_.width));
  }
  void norm_of_heads(const std::string& name) { all_.add_shared(norm_weight(name, of_.options_.head_size)); }
  /// To these outputs, some of each.
  void to(const std::string& name, const std::vector<std::int64_t>& outs, bool biased) {
    const auto parts = of_.piece_.of_each_row(outs);
    std::int64_t out = 0;
    for (const std::int64_t n : outs) out += n;
    all_.add_part(linear_parameter(name + ".weight", out, of_.options_.width, normal), 0, parts);
    if (biased) all_.add_part({name + ".bias", {out}, {}, {}}, 0, parts);
  }
  /// From some of these inputs.
  void from(const std::string& name, std::int64_t in, bool biased) {
    const std::int64_t width = of_.options_.width;
    all_.add_part(linear_parameter(name + ".weight", width, in, normal), 1, {of_.piece_.of_row(in)});
    if (biased && of_.piece_.first()) all_.add({name + ".bias", {width}, {}, {}});
  }
  std::vector<parameter_spec> take() { return all_.take(); }

 private:
  static constexpr initial_value normal{initial_value::kind::normal, 0.02};

  parameter_spec norm_weight(const std::string& name, std::int64_t size) const {
    static constexpr initial_value zero{}, one{initial_value::kind::constant, 1};
    return {name + ".weight", {size}, of_.options_.offset_norms ? zero : one, {}};
  }

  const llama_parts& of_;
  piece_parameters all_;
};

llama_parts::llama_parts(const llama_block_options& options, const piece_place& piece, std::string prefix)
    : options_(options),
      piece_(piece),
      prefix_(std::move(prefix)),
      heads_(options.heads / piece.of),
      kv_heads_(options.kv_heads / piece.of),
      hidden_(piece.of_row(options.hidden).size()),
      positions_({.size = rotated_of(options), .theta = options.rope_theta, .scaling = options.scaling}) {}

std::vector<parameter_spec> llama_parts::parameters_of_attention() const {
  const llama_block_options& o = options_;
  const std::int64_t queries = o.heads * o.head_size, keys = o.kv_heads * o.head_size;
  parameter_list all{*this};
  all.norm_of_vectors("input_layernorm");
  if (o.fused) {
    all.to("self_attn.qkv_proj", {queries, keys, keys}, o.qkv_bias);
  } else {
    all.to("self_attn.q_proj", {queries}, o.qkv_bias);
    all.to("self_attn.k_proj", {keys}, o.qkv_bias);
    all.to("self_attn.v_proj", {keys}, o.qkv_bias);
  }
  if (o.qk_norm) all.norm_of_heads("self_attn.q_norm");
  if (o.qk_norm) all.norm_of_heads("self_attn.k_norm");
  all.from("self_attn.o_proj", queries, o.output_bias);
  if (o.output_norms) all.norm_of_vectors("post_attention_layernorm");
  return all.take();
}

std::vector<parameter_spec> llama_parts::parameters_of_mlp() const {
  const llama_block_options& o = options_;
  parameter_list all{*this};
  all.norm_of_vectors(o.output_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm");
  if (o.fused) {
    all.to("mlp.gate_up_proj", {o.hidden, o.hidden}, o.mlp_bias);
  } else {
    all.to("mlp.gate_proj", {o.hidden}, o.mlp_bias);
    all.to("mlp.up_proj", {o.hidden}, o.mlp_bias);
  }
  all.from("mlp.down_proj", o.hidden, o.mlp_bias);
  if (o.output_norms) all.norm_of_vectors("post_feedforward_layernorm");
  return all.take();
}

at::Tensor llama_parts::norm(block_parameters& p, const at::Tensor& x) const {
  return rms_norm(x, p.next(), options_.eps, options_.offset_norms);
}

std::vector<at::Tensor> llama_parts::projections(block_parameters& p, const at::Tensor& n, bool biased,
                                                 std::initializer_list<std::int64_t> sizes) const {
  if (options_.fused) return p.project(n, biased).split_with_sizes(sizes, -1);
  std::vector<at::Tensor> all;
  while (all.size() < sizes.size()) all.push_back(p.project(n, biased));
  return all;
}

attention_heads llama_parts::heads_of(block_parameters& p, const at::Tensor& n, const at::Tensor& positions) const {
  const llama_block_options& o = options_;
  const std::int64_t queries = heads_ * o.head_size, keys = kv_heads_ * o.head_size;
  const auto flat = projections(p, n, o.qkv_bias, {queries, keys, keys});
  at::Tensor q = split_heads(flat[0], heads_), k = split_heads(flat[1], kv_heads_);
  if (o.qk_norm) q = norm(p, q);
  if (o.qk_norm) k = norm(p, k);
  const rotary_turns turns = positions_.turns_at(positions, q);
  return {rotated(q, turns), rotated(k, turns), split_heads(flat[2], kv_heads_)};
}

at::Tensor llama_parts::attention(block_parameters& p, const at::Tensor& n, const at::Tensor& positions,
                                  const attention_function& attend) const {
  const at::Tensor mixed = attend(heads_of(p, n, positions));
  return p.project(join_heads(mixed), options_.output_bias && piece_.first());
}

at::Tensor llama_parts::mlp(block_parameters& p, const at::Tensor& n) const {
  const llama_block_options& o = options_;
  auto gate_and_up = projections(p, n, o.mlp_bias, {hidden_, hidden_});
  gate_and_up[0] = activate(o.act, gate_and_up[0]);
  return p.project(gate_and_up[0].mul(gate_and_up[1]), o.mlp_bias && piece_.first());
}

std::vector<chain_part> llama_in_pieces(const llama_block_options& o, const division& into) {
  require_pieces(into.pieces, o.kv_heads, "heads of keys and values");
  if (into.pieces > o.hidden)
    refuse(fmt::format("{} pieces are more than the {} features of the MLP", into.pieces, o.hidden));
  std::vector<chain_part> all;
  for (const auto which : {llama_term::part::attention, llama_term::part::mlp}) {
    const auto make = [&](const piece_place& piece) {
      return std::make_shared<llama_term>(o, which, piece, into.prefix);
    };
    const residual_form form{.width = o.width, .targets = into.targets};
    std::ranges::move(layers_of(residual_sum(into.pieces, form, make), into), std::back_inserter(all));
  }
  return all;
}

std::string signature_of(const llama_block_options& o) {
  const rope_scaling& r = o.scaling;
  return fmt::format(
      "width={} heads={} kv_heads={} head_size={} hidden={} theta={} scaling={} {} {} {} {} eps={} "
      "qkv_bias={} output_bias={} mlp_bias={} qk_norm={} window={} scale={} score_cap={} rotated={} factors={} {} "
      "act={} offset_norms={} output_norms={} fused={}",
      o.width, o.heads, o.kv_heads, o.head_size, o.hidden, o.rope_theta, to_string(r.how), r.factor,
      r.low_frequency_factor, r.high_frequency_factor, r.original_context, o.eps, o.qkv_bias, o.output_bias, o.mlp_bias,
      o.qk_norm, o.attention.window, o.attention.scale, o.attention.score_cap, rotated_of(o), fmt::join(r.factors, ","),
      r.magnitude, to_string(o.act), o.offset_norms, o.output_norms, o.fused);
}

}  // namespace hydra
