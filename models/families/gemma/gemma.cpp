#include "models/families/gemma/gemma.hpp"

#include "models/families/decoder.hpp"
#include "models/families/gemma/gemma_config.hpp"

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

decoder_layers layers_of(const gemma_options& o) {
  decoder_layers all = plain_layers(o, block_of);
  all.embedding.scale = std::sqrt(static_cast<double>(o.width));
  all.head.offset_norm = true;
  all.head.logit_cap = o.logit_cap;
  return all;
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
  return described_decoder("gemma", o, layers_of, gemma_hub_form);
}

}  // namespace hydra
