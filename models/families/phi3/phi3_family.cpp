#include "models/families/decoder_options.hpp"
#include "models/families/families.hpp"
#include "models/families/phi3/phi3.hpp"

namespace hydra {

family phi3_family() {
  using o = phi3_options;
  return family_of<o>(
      "phi3", "Phi-3: Llama's blocks with fused projections and partly rotated heads; no dropout", phi3,
      with_decoder_options<o>(
          {{"rotated", &o::rotated, false, "features of a head that are rotated, even; 0: head_size"},
           {"rope_theta", &o::rope_theta, false, "base of the wavelengths of rotary positions"},
           {"eps", &o::eps, false, "of the norms"},
           {"tied", &o::tied, false, "head and token embedding share their weights"}}));
}

}  // namespace hydra
