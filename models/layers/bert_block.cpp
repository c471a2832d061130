#include "models/layers/bert_block.hpp"

#include "models/dropout.hpp"
#include "models/layers/encoder_attention.hpp"
#include "models/layers/encoder_parts.hpp"
#include "models/layers/masked_tokens.hpp"
#include "models/layers/sum_of_pieces.hpp"
#include "models/layers/weight_and_bias.hpp"
#include "models/pieces/piece_term.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace hydra {
namespace {

/// Indices in parameters(); a bias follows its weight.
enum parameter : std::size_t { heads = 0, attention_norm = 8, network = 10, output_norm = 14 };

const encoder_heads::names heads_names{"attention.self.query", "attention.self.key", "attention.self.value",
                                       "attention.output.dense"};
const encoder_network::names network_names{"intermediate.dense", "output.dense"};

norm_function norm_called(const std::string& name, const bert_block_options& o) {
  norm_function norm{.name = fmt::format("bert norm eps={}", o.eps)};
  add_norm(norm.parameters, name, o.width);
  norm.of = [eps = o.eps](std::span<const at::Tensor> p, const at::Tensor& x) { return apply_norm(p, 0, x, eps); };
  return norm;
}

/// What a piece adds, of [x | mask]; the first one adds x, too.
template <class Part>
class bert_piece final : public piece_term {
 public:
  using names = typename Part::names;

  bert_piece(const bert_block_options& options, const piece_place& piece, const names& called, encoder_site site)
      : options_(options), piece_(piece), part_(options, piece, 0), called_(called), site_(site) {}

  std::vector<parameter_spec> parameters() const override { return Part::parameters(options_, called_, piece_); }
  sum_columns columns() const override { return {.sum = options_.width, .used = options_.width}; }

  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& known,
                const layer_context& context) const override {
    const auto [x, mask] = split_mask(known);
    const at::Tensor y = keyed_dropout(part_of(parameters, x, mask, context), options_.dropout, context,
                                       static_cast<std::uint32_t>(site_));
    return piece_.first() ? y.add(x) : y;
  }

  std::string signature() const override {
    return fmt::format("bert {} {}", static_cast<int>(site_), text_of(options_, piece_));
  }

 private:
  at::Tensor part_of(std::span<const at::Tensor> parameters, const at::Tensor& x, const at::Tensor& mask,
                     const layer_context& context) const {
    if constexpr (std::is_same_v<Part, encoder_heads>)
      return part_.of(parameters, x, key_bias(mask), context);
    else
      return part_.of(parameters, x, context);
  }

  bert_block_options options_;
  piece_place piece_;
  Part part_;
  names called_;
  encoder_site site_;
};

}  // namespace

bert_block::bert_block(const bert_block_options& options) : options_(options) {
  require_encoder_options("bert block", options);
}

std::vector<parameter_spec> bert_block::parameters() const {
  std::vector<parameter_spec> result = encoder_heads::parameters(options_, heads_names, {});
  add_norm(result, "attention.output.LayerNorm", options_.width);
  std::ranges::move(encoder_network::parameters(options_, network_names, {}), std::back_inserter(result));
  add_norm(result, "output.LayerNorm", options_.width);
  return result;
}

tensor_spec bert_block::output(const tensor_spec& input) const {
  require_masked_tokens("bert block", input, options_.width);
  return input;
}

at::Tensor bert_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                               const layer_context& context) const {
  const auto add_and_norm = [&](const at::Tensor& x, const at::Tensor& y, std::size_t norm, encoder_site where) {
    const at::Tensor dropped = keyed_dropout(y, options_.dropout, context, static_cast<std::uint32_t>(where));
    return apply_norm(parameters, norm, dropped.add(x), options_.eps);
  };
  const auto [x, mask] = split_mask(input);
  const at::Tensor mixed = encoder_heads{options_, piece_place{}, heads}.of(parameters, x, key_bias(mask), context);
  const at::Tensor y = add_and_norm(x, mixed, attention_norm, encoder_site::attention_output);
  const at::Tensor z = encoder_network{options_, piece_place{}, network}.of(parameters, y, context);
  return join_mask({add_and_norm(y, z, output_norm, encoder_site::network_output), mask});
}

std::vector<chain_part> bert_block::in_pieces(const division& into) const {
  require_encoder_pieces(options_, into.pieces);
  std::vector<chain_part> all;
  const auto add = [&]<class Part>(const typename Part::names& called, const std::string& norm, encoder_site site) {
    sum_of_pieces sum{.width = options_.width};
    sum.terms = terms_of(into.pieces, [&](const piece_place& piece) {
      return std::make_shared<bert_piece<Part>>(options_, piece, called, site);
    });
    sum.last = norm_of_tokens(norm_called(norm, options_), options_.width, false);
    std::ranges::move(layers_of(sum, into), std::back_inserter(all));
  };
  add.operator()<encoder_heads>(heads_names, "attention.output.LayerNorm", encoder_site::attention_output);
  add.operator()<encoder_network>(network_names, "output.LayerNorm", encoder_site::network_output);
  return all;
}

std::string bert_block::signature() const {
  return fmt::format("bert block width={} heads={} hidden={} act={} dropout={} attention_dropout={} eps={}",
                     options_.width, options_.heads, options_.hidden, to_string(options_.act), options_.dropout,
                     options_.attention_dropout, options_.eps);
}

}  // namespace hydra
