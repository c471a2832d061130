#include "models/layers/token_embedding.hpp"

#include "models/decode_memory.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/embedding_piece.hpp"
#include "models/layers/packed_tokens.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/embedding_ops.h>
#include <fmt/format.h>

namespace hydra {

token_embedding::token_embedding(const token_embedding_options& options) : options_(options) {
  require_positive("token embedding: vocabulary", options.vocabulary);
  require_positive("token embedding: context", options.context);
  require_positive("token embedding: width", options.width);
}

std::vector<parameter_spec> token_embedding::parameters() const {
  return {{"embed_tokens.weight", {options_.vocabulary, options_.width}, {initial_value::kind::normal, 0.02}, {}}};
}

tensor_spec token_embedding::output(const tensor_spec& input) const {
  return embedded("token embedding", input, options_.context, options_.width);
}

at::Tensor token_embedding::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                    const layer_context&) const {
  const auto [ids, starts] = split_ids(input);
  const at::Tensor vectors = at::_ops::embedding::call(parameters[0], ids, options_.padding, false, false);
  return join_starts({options_.scale == 1 ? vectors : vectors.mul(options_.scale), starts});
}

at::Tensor token_embedding::decode(std::span<const at::Tensor> parameters, const at::Tensor& ids, const layer_context&,
                                   decode_memory& memory) const {
  const at::NoGradGuard no_grad;
  require_context("token embedding", memory.seen + ids.size(1), options_.context);
  return forward(parameters, ids, {});
}

std::vector<chain_part> token_embedding::in_pieces(const division& into) const {
  if (!into.targets) return {};
  return embedding_in_pieces({.tokens = "embed_tokens.weight",
                              .vocabulary = options_.vocabulary,
                              .context = options_.context,
                              .width = options_.width,
                              .scale = options_.scale,
                              .padding = options_.padding},
                             into);
}

std::string token_embedding::signature() const {
  return fmt::format("token embedding vocabulary={} context={} width={} scale={}{}", options_.vocabulary,
                     options_.context, options_.width, options_.scale,
                     options_.padding < 0 ? "" : fmt::format(" padding={}", options_.padding));
}

}  // namespace hydra
