#include "models/families/gemma/gemma.hpp"

#include "models/families/decoder.hpp"
#include "models/families/gemma/gemma_config.hpp"
#include "models/families/vocabulary.hpp"

#include <cmath>

namespace hydra {
namespace {

rope_scaling stretched(double factor) {
  if (factor == 1) return {};
  return {.how = rope_scaling::kind::linear, .factor = factor};
}

llama_block_options block_of(const gemma_options& o, std::int64_t i) {
  const bool windowed = is_windowed(i, o.window, o.full_layers);
  const bool local = windowed && o.local_rope_theta > 0;
  const double scale = o.query_scale > 0 ? 1 / std::sqrt(o.query_scale) : 0;
  return {.width = o.width,
          .heads = o.heads,
          .kv_heads = o.kv_heads,
          .head_size = o.head_size,
          .hidden = o.hidden,
          .attention = {.window = windowed ? o.window : 0, .scale = scale, .score_cap = o.score_cap},
          .rope_theta = local ? o.local_rope_theta : o.rope_theta,
          .scaling = local ? rope_scaling{} : stretched(o.rope_factor),
          .act = activation::gelu_tanh,
          .eps = o.eps,
          .qk_norm = o.qk_norm,
          .offset_norms = true,
          .output_norms = true};
}

chain build_gemma(const gemma_options& options, const data_source& data) {
  const tensor_spec input = causal_samples_of("gemma", data);
  gemma_options o = options;
  o.vocabulary = vocabulary_for("gemma", options.vocabulary, data);
  decoder_layers layers{.embedding = {.vocabulary = o.vocabulary,
                                      .context = o.context,
                                      .width = o.width,
                                      .scale = std::sqrt(static_cast<double>(o.width)),
                                      .padding = o.padding},
                        .head = {.vocabulary = o.vocabulary,
                                 .width = o.width,
                                 .eps = o.eps,
                                 .offset_norm = true,
                                 .logit_cap = o.logit_cap},
                        .tied = o.tied};
  for (std::int64_t i = 0; i < o.layers; ++i) layers.blocks.push_back(block_of(o, i));
  chain result = decoder_chain("gemma", input, layers);
  result.publish_as(gemma_hub_form(o));
  result.validate();
  note_tokens_beyond(result, o.vocabulary, data);
  return result;
}

void require_not_negative(const char* what, double value) {
  if (!(value >= 0)) refuse(fmt::format("gemma: {} is {}; it must be positive, or 0 for none", what, value));
}

}  // namespace

chain_description gemma(const gemma_options& options) {
  const gemma_options o = completed("gemma", options);
  require_not_negative("local_rope_theta", o.local_rope_theta);
  require_not_negative("query_scale", o.query_scale);
  require_not_negative("score_cap", o.score_cap);
  require_not_negative("logit_cap", o.logit_cap);
  static_cast<void>(llama_block{block_of(o, 0)});  // validates now rather than when the data are known
  return {"gemma", o.context, [o](const data_source& data) { return build_gemma(o, data); }};
}

}  // namespace hydra
