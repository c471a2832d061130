#include "models/families/llama/llama.hpp"

#include "models/families/llama/llama_config.hpp"
#include "models/families/vocabulary.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/llama_block.hpp"
#include "models/layers/rms_head.hpp"
#include "models/layers/token_embedding.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

llama_block_options block_of(const llama_options& o) {
  return {.width = o.width,
          .heads = o.heads,
          .kv_heads = o.kv_heads,
          .head_size = o.head_size,
          .hidden = o.hidden,
          .rope_theta = o.rope_theta,
          .scaling = o.scaling,
          .eps = o.eps,
          .qkv_bias = o.qkv_bias,
          .output_bias = o.output_bias,
          .mlp_bias = o.mlp_bias,
          .qk_norm = o.qk_norm};
}

chain build_llama(const llama_options& options, const data_source& data) {
  const tensor_spec input = causal_samples_of("llama", data);
  llama_options o = options;
  o.vocabulary = vocabulary_for("llama", options.vocabulary, data);
  chain result{"llama", input, cross_entropy()};
  result.add("model.", std::make_shared<token_embedding>(token_embedding_options{
                           .vocabulary = o.vocabulary, .context = o.context, .width = o.width}));
  const auto block = std::make_shared<llama_block>(block_of(o));
  for (std::int64_t i = 0; i < o.layers; ++i) result.add(fmt::format("model.layers.{}.", i), block);
  result.add("", std::make_shared<rms_head>(rms_head_options{.vocabulary = o.vocabulary,
                                                             .width = o.width,
                                                             .eps = o.eps,
                                                             .tied_to = o.tied ? "model.embed_tokens.weight" : ""}));
  result.publish_as(llama_hub_form(o));
  result.validate();
  return result;
}

llama_options complete(llama_options o) {
  require_positive("llama: layers", o.layers);
  require_positive("llama: width", o.width);
  require_positive("llama: heads", o.heads);
  require_positive("llama: hidden", o.hidden);
  require_positive("llama: context", o.context);
  if (o.vocabulary != 0) require_positive("llama: vocabulary", o.vocabulary);
  if (!(o.eps > 0)) refuse(fmt::format("llama: eps is {}; it must be positive", o.eps));
  if (o.kv_heads == 0) o.kv_heads = o.heads;
  if (o.head_size == 0 && o.width % o.heads != 0)
    refuse(fmt::format("llama: {} heads do not divide width {}; give head_size", o.heads, o.width));
  if (o.head_size == 0) o.head_size = o.width / o.heads;
  return o;
}

}  // namespace

chain_description llama(const llama_options& options) {
  const llama_options o = complete(options);
  static_cast<void>(llama_block{block_of(o)});  // validates now rather than when the data are known
  return {"llama", o.context, [o](const data_source& data) { return build_llama(o, data); }};
}

}  // namespace hydra
