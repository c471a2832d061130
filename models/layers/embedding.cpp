#include "models/layers/embedding.hpp"

#include "models/decode_memory.hpp"
#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/embedding_piece.hpp"
#include "models/layers/packed_tokens.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/embedding_ops.h>
#include <fmt/format.h>

namespace hydra {

embedding::embedding(const embedding_options& options) : options_(options) {
  require_positive("embedding: vocabulary", options.vocabulary);
  require_positive("embedding: context", options.context);
  require_positive("embedding: width", options.width);
  require_dropout("embedding: dropout", options.dropout);
}

std::vector<parameter_spec> embedding::parameters() const {
  const initial_value initial{initial_value::kind::normal, 0.02};
  return {{"wte.weight", {options_.vocabulary, options_.width}, initial, {}},
          {"wpe.weight", {options_.context, options_.width}, initial, {}}};
}

tensor_spec embedding::output(const tensor_spec& input) const {
  return embedded("embedding", input, options_.context, options_.width);
}

at::Tensor embedding::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                              const layer_context& context) const {
  const auto [ids, starts] = split_ids(input);
  const auto look_up = [&](const at::Tensor& table, const at::Tensor& rows) {
    return at::_ops::embedding::call(table, rows, -1, false, false);
  };
  const at::Tensor positions =
      starts.defined() ? look_up(parameters[1], positions_in_records(starts)) : parameters[1].narrow(0, 0, ids.size(1));
  const at::Tensor sum = look_up(parameters[0], ids).add(positions);
  return join_starts({keyed_dropout(sum, options_.dropout, context, 0), starts});
}

at::Tensor embedding::decode(std::span<const at::Tensor> parameters, const at::Tensor& ids, const layer_context&,
                             decode_memory& memory) const {
  const at::NoGradGuard no_grad;
  require_context("embedding", memory.seen + ids.size(1), options_.context);
  const at::Tensor tokens = at::_ops::embedding::call(parameters[0], ids, -1, false, false);
  return tokens.add(parameters[1].narrow(0, memory.seen, ids.size(1)));
}

std::vector<chain_part> embedding::in_pieces(const division& into) const {
  if (!into.targets) return {};
  return embedding_in_pieces({.tokens = "wte.weight",
                              .positions = "wpe.weight",
                              .vocabulary = options_.vocabulary,
                              .context = options_.context,
                              .width = options_.width,
                              .dropout = options_.dropout},
                             into);
}

std::string embedding::signature() const {
  return fmt::format("embedding vocabulary={} context={} width={} dropout={}", options_.vocabulary, options_.context,
                     options_.width, options_.dropout);
}

}  // namespace hydra
