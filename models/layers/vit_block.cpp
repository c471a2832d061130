#include "models/layers/vit_block.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/encoder_attention.hpp"
#include "models/layers/encoder_parts.hpp"
#include "models/layers/linear_map.hpp"
#include "models/layers/residual_piece.hpp"
#include "models/layers/weight_and_bias.hpp"
#include "models/pieces/residual_term.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

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

constexpr std::array projections{"attention.attention.query", "attention.attention.key", "attention.attention.value"};
const encoder_heads::names heads_names{projections[0], projections[1], projections[2], "attention.output.dense"};
const encoder_network::names network_names{"intermediate.dense", "output.dense"};

/// Of a whole block.
encoder_heads heads_in(const vit_block_options& o) {
  const auto place = [&](std::size_t weight) {
    return linear_place{weight, o.qkv_bias ? std::optional{weight + to_bias} : std::nullopt};
  };
  return {o, {{place(query), place(key), place(value)}, {attention_dense, attention_dense + 1}}};
}

/// A term of a block in pieces; the only one has a norm in front.
class vit_term : public residual_term {
 public:
  vit_term(const vit_block_options& options, const piece_place& piece, std::string norm)
      : options_(options), piece_(piece), norm_(std::move(norm)) {}

  std::vector<parameter_spec> parameters() const override {
    std::vector<parameter_spec> all;
    if (piece_.whole()) add_norm(all, norm_, options_.width);
    std::ranges::move(maps(), std::back_inserter(all));
    return all;
  }
  at::Tensor norm(std::span<const at::Tensor> parameters, const at::Tensor& x) const override {
    return apply_norm(parameters, 0, x, options_.eps);
  }
  std::size_t norm_size() const override { return 2; }
  std::string options() const override { return text_of(options_, piece_); }

 protected:
  virtual std::vector<parameter_spec> maps() const = 0;
  std::size_t first_map() const { return piece_.whole() ? norm_size() : 0; }
  const vit_block_options& form() const { return options_; }
  const piece_place& piece() const { return piece_; }

 private:
  vit_block_options options_;
  piece_place piece_;
  std::string norm_;
};

class vit_heads final : public vit_term {
 public:
  vit_heads(const vit_block_options& options, const piece_place& piece)
      : vit_term(options, piece, "layernorm_before") {}
  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& n, const at::Tensor&,
                const layer_context& context) const override {
    return encoder_heads{form(), piece(), first_map()}.of(parameters, n, {}, context);
  }
  std::string name() const override { return "vit attention"; }

 private:
  std::vector<parameter_spec> maps() const override { return encoder_heads::parameters(form(), heads_names, piece()); }
};

class vit_network final : public vit_term {
 public:
  vit_network(const vit_block_options& options, const piece_place& piece)
      : vit_term(options, piece, "layernorm_after") {}
  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& n, const at::Tensor&,
                const layer_context& context) const override {
    return encoder_network{form(), piece(), first_map()}.of(parameters, n, context);
  }
  std::string name() const override { return "vit network"; }

 private:
  std::vector<parameter_spec> maps() const override {
    return encoder_network::parameters(form(), network_names, piece());
  }
};

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

at::Tensor vit_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                              const layer_context& context) const {
  const auto added = [&](const at::Tensor& x, const at::Tensor& y, encoder_site where) {
    return x.add(keyed_dropout(y, options_.dropout, context, static_cast<std::uint32_t>(where)));
  };
  const at::Tensor n = apply_norm(parameters, norm_before, input, options_.eps);
  const at::Tensor y = added(input, heads_in(options_).of(parameters, n, {}, context), encoder_site::attention_output);
  const at::Tensor m = apply_norm(parameters, norm_after, y, options_.eps);
  const encoder_network network{options_, {intermediate, intermediate + 1}, {output_dense, output_dense + 1}};
  return added(y, network.of(parameters, m, context), encoder_site::network_output);
}

std::vector<chain_part> vit_block::in_pieces(const division& into) const {
  require_encoder_pieces(options_, into.pieces);
  std::vector<chain_part> all;
  const auto add = [&]<class Term>(encoder_site site) {
    const residual_form form{
        .width = options_.width, .dropout = options_.dropout, .site = static_cast<std::uint32_t>(site)};
    const auto make = [&](const piece_place& piece) { return std::make_shared<Term>(options_, piece); };
    std::ranges::move(layers_of(residual_sum(into.pieces, form, make), into), std::back_inserter(all));
  };
  add.operator()<vit_heads>(encoder_site::attention_output);
  add.operator()<vit_network>(encoder_site::network_output);
  return all;
}

std::string vit_block::signature() const {
  return fmt::format("vit block width={} heads={} hidden={} act={} qkv_bias={} dropout={} attention_dropout={} eps={}",
                     options_.width, options_.heads, options_.hidden, to_string(options_.act), options_.qkv_bias,
                     options_.dropout, options_.attention_dropout, options_.eps);
}

}  // namespace hydra
