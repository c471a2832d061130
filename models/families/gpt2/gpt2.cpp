#include "models/families/gpt2/gpt2.hpp"

#include "models/families/gpt2/gpt2_config.hpp"
#include "models/families/vocabulary.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/embedding.hpp"
#include "models/layers/head.hpp"
#include "models/layers/transformer_block.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

chain build_gpt2(const gpt2_options& options, const data_source& data) {
  const tensor_spec input = causal_samples_of("gpt2", data);
  const std::int64_t vocabulary = vocabulary_for("gpt2", options.vocabulary, data);
  chain result{"gpt2", input, cross_entropy()};
  result.add(
      "",
      std::make_shared<embedding>(embedding_options{
          .vocabulary = vocabulary, .context = options.context, .width = options.width, .dropout = options.dropout}));
  const auto block = std::make_shared<transformer_block>(transformer_block_options{
      .width = options.width, .heads = options.heads, .layers = options.layers, .dropout = options.dropout,
      .attention_dropout = options.attention_dropout, .eps = options.eps});
  for (std::int64_t i = 0; i < options.layers; ++i) result.add(fmt::format("h.{}.", i), block);
  result.add("", std::make_shared<head>(head_options{.vocabulary = vocabulary,
                                                     .width = options.width,
                                                     .eps = options.eps,
                                                     .tied_to = options.tied ? "wte.weight" : ""}));
  gpt2_options complete = options;
  complete.vocabulary = vocabulary;
  result.publish_as(gpt2_hub_form(complete));
  result.validate();
  note_tokens_beyond(result, vocabulary, data);
  return result;
}

}  // namespace

chain_description gpt2(const gpt2_options& options) {
  require_positive("gpt2: layers", options.layers);
  require_positive("gpt2: width", options.width);
  require_heads("gpt2", options.heads, options.width);
  require_positive("gpt2: context", options.context);
  require_dropout("gpt2: dropout", options.dropout);
  require_dropout("gpt2: attention_dropout", options.attention_dropout);
  if (options.vocabulary != 0) require_positive("gpt2: vocabulary", options.vocabulary);
  if (!(options.eps > 0)) refuse(fmt::format("gpt2: eps is {}; it must be positive", options.eps));
  return {"gpt2", options.context, [options](const data_source& data) { return build_gpt2(options, data); }};
}

}  // namespace hydra
