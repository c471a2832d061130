#include "models/layers/transformer_block.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/packed_tokens.hpp"
#include "models/layers/residual_piece.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hydra {

transformer_block::transformer_block(const transformer_block_options& options)
    : options_(options), attention_(options), mlp_(options, {.first = attention_.parameters().size()}) {
  require_positive("transformer block: width", options.width);
  require_heads("transformer block", options.heads, options.width);
  require_positive("transformer block: layers", options.layers);
  require_dropout("transformer block: dropout", options.dropout);
  require_dropout("transformer block: attention_dropout", options.attention_dropout);
}

std::vector<parameter_spec> transformer_block::parameters() const {
  std::vector<parameter_spec> result = attention_.parameters();
  std::ranges::move(mlp_.parameters(), std::back_inserter(result));
  return result;
}

tensor_spec transformer_block::output(const tensor_spec& input) const {
  require_packed_tokens("transformer block", input, options_.width);
  return input;
}

at::Tensor transformer_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                      const layer_context& context) const {
  const auto [vectors, starts] = split_starts(input, options_.width);
  const auto with = [&](const at::Tensor& x, const residual_term& term, std::uint32_t site) {
    const at::Tensor y = term.of(parameters, term.norm(parameters, x), starts, context);
    return x.add(keyed_dropout(y, options_.dropout, context, site));
  };
  const at::Tensor x = with(vectors, attention_, attention_output_site);
  return join_starts({with(x, mlp_, mlp_output_site), starts});
}

at::Tensor transformer_block::decode(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                     const layer_context& context, decode_memory& memory) const {
  const at::NoGradGuard no_grad;
  const at::Tensor n = attention_.norm(parameters, input);
  const at::Tensor mixed = growing_attention(attention_.heads_of(parameters, n, context), memory);
  const at::Tensor x = input.add(attention_.project(parameters, mixed, context));
  return x.add(mlp_.of(parameters, mlp_.norm(parameters, x), {}, context));
}

std::vector<chain_part> transformer_block::in_pieces(const division& into) const {
  require_pieces(into.pieces, options_.heads, "heads of the attention");
  std::vector<chain_part> all;
  const auto add = [&]<class Term>(std::uint32_t site) {
    const residual_form form{
        .width = options_.width, .dropout = options_.dropout, .site = site, .targets = into.targets};
    const auto make = [&](const piece_place& piece) {
      return std::make_shared<Term>(options_, transformer_part{.piece = piece});
    };
    std::ranges::move(layers_of(residual_sum(into.pieces, form, make), into), std::back_inserter(all));
  };
  add.operator()<attention_term>(attention_output_site);
  add.operator()<mlp_term>(mlp_output_site);
  return all;
}

std::string transformer_block::signature() const {
  return fmt::format("transformer block width={} heads={} dropout={}{}{}", options_.width, options_.heads,
                     options_.dropout, attention_dropout_in(options_), eps_unless_usual(options_.eps));
}

}  // namespace hydra
