#include "models/layers/bert_embedding.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/masked_tokens.hpp"
#include "models/layers/weight_and_bias.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/embedding_ops.h>
#include <fmt/format.h>

namespace hydra {
namespace {

enum parameter : std::size_t { words, positions, types, norm };

/// Rows of i64[samples, 3, tokens].
enum row : std::int64_t { ids, segments, present };

}  // namespace

bert_embedding::bert_embedding(const bert_embedding_options& options) : options_(options) {
  require_positive("bert embedding: vocabulary", options.vocabulary);
  require_positive("bert embedding: positions", options.positions);
  require_positive("bert embedding: types", options.types);
  require_positive("bert embedding: width", options.width);
  require_dropout("bert embedding: dropout", options.dropout);
  require_eps("bert embedding: eps", options.eps);
  if (options.padding >= options.vocabulary)
    refuse(fmt::format("bert embedding: padding is id {}; the vocabulary has {}", options.padding, options.vocabulary));
}

std::vector<parameter_spec> bert_embedding::parameters() const {
  const initial_value normal{initial_value::kind::normal, 0.02};
  std::vector<parameter_spec> result{{"word_embeddings.weight", {options_.vocabulary, options_.width}, normal, {}},
                                     {"position_embeddings.weight", {options_.positions, options_.width}, normal, {}},
                                     {"token_type_embeddings.weight", {options_.types, options_.width}, normal, {}}};
  add_norm(result, "LayerNorm", options_.width);
  return result;
}

tensor_spec bert_embedding::output(const tensor_spec& input) const {
  require_input("bert embedding", input, element::i64, 3);
  if (input.shape[1] != 3 || input.shape[2] > options_.positions)
    refuse(fmt::format("bert embedding gets {}; it wants 3 rows (ids, segments, mask) of at most {} tokens",
                       to_string(input), options_.positions));
  return {{input.shape[0], input.shape[2], options_.width + 1}, element::f32};
}

at::Tensor bert_embedding::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                   const layer_context& context) const {
  const auto look_up = [&](parameter table, row which, std::int64_t padding) {
    return at::_ops::embedding::call(parameters[table], input.select(1, which), padding, false, false);
  };
  const at::Tensor place = parameters[positions].narrow(0, 0, input.size(2));
  const at::Tensor sum = look_up(words, ids, options_.padding).add(look_up(types, segments, -1)).add(place);
  const at::Tensor normed = apply_norm(parameters, norm, sum, options_.eps);
  const at::Tensor mask = input.select(1, present).to(normed.scalar_type());
  return join_mask({keyed_dropout(normed, options_.dropout, context, 0), mask});
}

std::string bert_embedding::signature() const {
  return fmt::format("bert embedding vocabulary={} positions={} types={} width={} padding={} dropout={} eps={}",
                     options_.vocabulary, options_.positions, options_.types, options_.width, options_.padding,
                     options_.dropout, options_.eps);
}

}  // namespace hydra
