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
            auto all = read_decoder_options<phi3_options>(o);
            all.rotated = get<std::int64_t>(o, "rotated");
            return phi3(all);
          }};
}

}  // namespace hydra
