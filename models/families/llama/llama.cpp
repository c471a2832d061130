#include "models/families/llama/llama.hpp"

#include "models/families/decoder.hpp"
#include "models/families/llama/llama_config.hpp"

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

decoder_layers layers_of(const llama_options& o) { return plain_layers(o, block_of); }

}  // namespace

chain_description llama(const llama_options& options) {
  return described_decoder("llama", options, layers_of, llama_hub_form);
}

}  // namespace hydra
