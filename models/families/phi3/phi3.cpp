#include "models/families/phi3/phi3.hpp"

#include "models/families/decoder.hpp"
#include "models/families/phi3/phi3_config.hpp"

namespace hydra {
namespace {

llama_block_options block_of(const phi3_options& o, std::int64_t) {
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

decoder_layers layers_of(const phi3_options& o) { return plain_layers(o, block_of); }

}  // namespace

chain_description phi3(const phi3_options& options) {
  return described_decoder("phi3", options, layers_of, phi3_hub_form);
}

}  // namespace hydra
