#include "models/families/llama/llama.hpp"

#include "models/families/decoder.hpp"
#include "models/families/llama/llama_config.hpp"
#include "models/families/vocabulary.hpp"

namespace hydra {
namespace {

llama_block_options block_of(const llama_options& o, std::int64_t i) {
  return {.width = o.width,
          .heads = o.heads,
          .kv_heads = o.kv_heads,
          .head_size = o.head_size,
          .hidden = o.hidden,
          .attention = {.window = is_windowed(i, o.window, o.full_layers) ? o.window : 0},
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
  decoder_layers layers{.embedding = {.vocabulary = o.vocabulary, .context = o.context, .width = o.width, .padding = o.padding},
                        .head = {.vocabulary = o.vocabulary, .width = o.width, .eps = o.eps},
                        .tied = o.tied};
  for (std::int64_t i = 0; i < o.layers; ++i) layers.blocks.push_back(block_of(o, i));
  chain result = decoder_chain("llama", input, layers);
  result.publish_as(llama_hub_form(o));
  result.validate();
  note_tokens_beyond(result, o.vocabulary, data);
  return result;
}

}  // namespace

chain_description llama(const llama_options& options) {
  const llama_options o = completed("llama", options);
  static_cast<void>(llama_block{block_of(o, 0)});  // validates now rather than when the data are known
  return {"llama", o.context, [o](const data_source& data) { return build_llama(o, data); }};
}

}  // namespace hydra
