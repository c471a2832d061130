#include "models/families/families.hpp"
#include "models/families/gpt2/gpt2.hpp"

namespace hydra {

family gpt2_family() {
  const gpt2_options standard;
  return {"gpt2",
          "GPT-2: learned positions, pre-norm blocks, tanh GELU",
          {{"layers", std::int64_t{0}, true, "blocks"},
           {"width", std::int64_t{0}, true, "of the residual stream"},
           {"heads", std::int64_t{0}, true, "of the attention; divide width"},
           {"context", std::int64_t{0}, true, "tokens per sample"},
           {"vocabulary", standard.vocabulary, false, "token ids; 0: as many as the data have"},
           {"dropout", standard.dropout, false, "of embeddings, attention output and MLP output"},
           {"attention_dropout", standard.attention_dropout, false, "of the attention's probabilities"},
           {"eps", standard.eps, false, "of the norms"},
           {"tied", standard.tied, false, "head and token embedding share their weights"}},
          [](const option_values& o) {
            return gpt2({.layers = get<std::int64_t>(o, "layers"),
                         .width = get<std::int64_t>(o, "width"),
                         .heads = get<std::int64_t>(o, "heads"),
                         .context = get<std::int64_t>(o, "context"),
                         .vocabulary = get<std::int64_t>(o, "vocabulary"),
                         .dropout = get<double>(o, "dropout"),
                         .attention_dropout = get<double>(o, "attention_dropout"),
                         .eps = get<double>(o, "eps"),
                         .tied = get<bool>(o, "tied")});
          }};
}

}  // namespace hydra
