#include "models/families/decoder_options.hpp"
#include "models/families/families.hpp"
#include "models/families/gemma/gemma.hpp"

namespace hydra {

family gemma_family() {
  using o = gemma_options;
  return family_of<o>(
      "gemma", "Gemma 2 and 3: Llama's blocks with more norms, GeGLU, windows and soft caps; no dropout", gemma,
      with_decoder_options<o>(
          {full_layers_option<o>("gemma: full_layers"),
           {"rope_theta", &o::rope_theta, false, "base of the wavelengths of rotary positions"},
           {"rope_factor", &o::rope_factor, false, "positions are divided by it"},
           {"local_rope_theta", &o::local_rope_theta, false,
            "rope_theta of blocks with the window, then without rope_factor; 0: as the others"},
           {"query_scale", &o::query_scale, false, "scores are divided by its root; 0: head_size"},
           {"score_cap", &o::score_cap, false, "scores of attention s become cap * tanh(s / cap); 0: they stay"},
           {"logit_cap", &o::logit_cap, false, "the same for logits"},
           {"eps", &o::eps, false, "of the norms"},
           {"tied", &o::tied, false, "head and token embedding share their weights"},
           {"qk_norm", &o::qk_norm, false, "RMS norms of each head's queries and keys"}}));
}

}  // namespace hydra
