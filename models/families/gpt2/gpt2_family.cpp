#include "models/families/families.hpp"
#include "models/families/family_option.hpp"
#include "models/families/gpt2/gpt2.hpp"

namespace hydra {

family gpt2_family() {
  using o = gpt2_options;
  return family_of<o>("gpt2", "GPT-2: learned positions, pre-norm blocks, tanh GELU", gpt2,
                      {{"layers", &o::layers, true, "blocks"},
                       {"width", &o::width, true, "of the residual stream"},
                       {"heads", &o::heads, true, "of the attention; divide width"},
                       {"context", &o::context, true, "tokens per sample"},
                       {"vocabulary", &o::vocabulary, false, "token ids; 0: as many as the data have"},
                       {"dropout", &o::dropout, false, "of embeddings, attention output and MLP output"},
                       {"attention_dropout", &o::attention_dropout, false, "of the attention's probabilities"},
                       {"eps", &o::eps, false, "of the norms"},
                       {"tied", &o::tied, false, "head and token embedding share their weights"}});
}

}  // namespace hydra
