#include "models/families/phi3/phi3.hpp"

#include "models/families/decoder.hpp"
#include "models/families/phi3/phi3_config.hpp"
#include "models/families/vocabulary.hpp"

namespace hydra {
namespace {

llama_block_options block_of(const phi3_options& o) {
  return {.width = o.width,
          .heads = o.heads,
          .kv_heads = o.kv_heads,
          .head_size = o.head_size,
          .hidden = o.hidden,
          .attention = {.window = o.window},
          .rotated = o.rotated,
          .rope_theta = o.rope_theta,
          .scaling = o.scaling,
          .eps = o.eps,
          .fused = true};
}

chain build_phi3(const phi3_options& options, const data_source& data) {
  const tensor_spec input = causal_samples_of("phi3", data);
  phi3_options o = options;
  o.vocabulary = vocabulary_for("phi3", options.vocabulary, data);
  const decoder_layers layers{
      .embedding = {.vocabulary = o.vocabulary, .context = o.context, .width = o.width, .padding = o.padding},
      .blocks = std::vector<llama_block_options>(static_cast<std::size_t>(o.layers), block_of(o)),
      .head = {.vocabulary = o.vocabulary, .width = o.width, .eps = o.eps},
      .tied = o.tied};
  chain result = decoder_chain("phi3", input, layers);
  result.publish_as(phi3_hub_form(o));
  result.validate();
  note_tokens_beyond(result, o.vocabulary, data);
  return result;
}

}  // namespace

chain_description phi3(const phi3_options& options) {
  const phi3_options o = completed("phi3", options);
  static_cast<void>(llama_block{block_of(o)});  // validates now rather than when the data are known
  return {"phi3", o.context, [o](const data_source& data) { return build_phi3(o, data); }};
}

}  // namespace hydra
