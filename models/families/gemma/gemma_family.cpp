#include "models/families/decoder.hpp"
#include "models/families/families.hpp"
#include "models/families/gemma/gemma.hpp"
#include "models/families/integer_list.hpp"

namespace hydra {
namespace {

chain_description gemma_of(const option_values& o) {
  auto all = read_decoder_options<gemma_options>(o);
  all.full_layers = integers_or_none("gemma: full_layers", get<std::string>(o, "full_layers"));
  all.rope_factor = get<double>(o, "rope_factor");
  all.local_rope_theta = get<double>(o, "local_rope_theta");
  all.query_scale = get<double>(o, "query_scale");
  all.score_cap = get<double>(o, "score_cap");
  all.logit_cap = get<double>(o, "logit_cap");
  all.qk_norm = get<bool>(o, "qk_norm");
  return gemma(all);
}

}  // namespace

family gemma_family() {
  const gemma_options standard;
  return {
      "gemma", "Gemma 2 and 3: Llama's blocks with more norms, GeGLU, windows and soft caps; no dropout",
      with_decoder_options(
          {{"full_layers", std::string{"none"}, false, "blocks without the window, from 0, such as 5,11"},
           {"rope_theta", standard.rope_theta, false, "base of the wavelengths of rotary positions"},
           {"rope_factor", standard.rope_factor, false, "positions are divided by it"},
           {"local_rope_theta", standard.local_rope_theta, false,
            "rope_theta of blocks with the window, then without rope_factor; 0: as the others"},
           {"query_scale", standard.query_scale, false, "scores are divided by its root; 0: head_size"},
           {"score_cap", standard.score_cap, false, "scores of attention s become cap * tanh(s / cap); 0: they stay"},
           {"logit_cap", standard.logit_cap, false, "the same for logits"},
           {"eps", standard.eps, false, "of the norms"},
           {"tied", standard.tied, false, "head and token embedding share their weights"},
           {"qk_norm", standard.qk_norm, false, "RMS norms of each head's queries and keys"}}),
      gemma_of};
}

}  // namespace hydra
