#include "models/families/decoder.hpp"
#include "models/families/families.hpp"
#include "models/families/phi3/phi3.hpp"

namespace hydra {

family phi3_family() {
  const phi3_options standard;
  return {"phi3", "Phi-3: Llama's blocks with fused projections and partly rotated heads; no dropout",
          with_decoder_options(
              {{"rotated", standard.rotated, false, "features of a head that are rotated, even; 0: head_size"},
               {"rope_theta", standard.rope_theta, false, "base of the wavelengths of rotary positions"},
               {"eps", standard.eps, false, "of the norms"},
               {"tied", standard.tied, false, "head and token embedding share their weights"}}),
          [](const option_values& o) {
            return phi3({.layers = get<std::int64_t>(o, "layers"),
                         .width = get<std::int64_t>(o, "width"),
                         .heads = get<std::int64_t>(o, "heads"),
                         .kv_heads = get<std::int64_t>(o, "kv_heads"),
                         .head_size = get<std::int64_t>(o, "head_size"),
                         .hidden = get<std::int64_t>(o, "hidden"),
                         .context = get<std::int64_t>(o, "context"),
                         .vocabulary = get<std::int64_t>(o, "vocabulary"),
                         .window = get<std::int64_t>(o, "window"),
                         .rotated = get<std::int64_t>(o, "rotated"),
                         .rope_theta = get<double>(o, "rope_theta"),
                         .eps = get<double>(o, "eps"),
                         .tied = get<bool>(o, "tied")});
          }};
}

}  // namespace hydra
