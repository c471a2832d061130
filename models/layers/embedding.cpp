#include "models/layers/embedding.hpp"

#include "models/decode_memory.hpp"
#include "models/dropout.hpp"
#include "models/layers/checks.hpp"

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
  require_input("embedding", input, element::i64, 2);
  require_context("embedding", input.shape[1], options_.context);
  return {{input.shape[0], input.shape[1], options_.width}, element::f32};
}

at::Tensor embedding::forward(std::span<const at::Tensor> parameters, const at::Tensor& ids,
                              const layer_context& context) const {
  const at::Tensor tokens = at::_ops::embedding::call(parameters[0], ids, -1, false, false);
  const at::Tensor positions = parameters[1].narrow(0, 0, ids.size(1));
  return keyed_dropout(tokens.add(positions), options_.dropout, context, 0);
}

at::Tensor embedding::decode(std::span<const at::Tensor> parameters, const at::Tensor& ids, const layer_context&,
                             decode_memory& memory) const {
  const at::NoGradGuard no_grad;
  require_context("embedding", memory.seen + ids.size(1), options_.context);
  const at::Tensor tokens = at::_ops::embedding::call(parameters[0], ids, -1, false, false);
  return tokens.add(parameters[1].narrow(0, memory.seen, ids.size(1)));
}

std::string embedding::signature() const {
  return fmt::format("embedding vocabulary={} context={} width={} dropout={}", options_.vocabulary, options_.context,
                     options_.width, options_.dropout);
}

}  // namespace hydra
