#include "models/families/activation_choice.hpp"
#include "models/families/bert/bert.hpp"
#include "models/families/families.hpp"
#include "models/families/family_option.hpp"

namespace hydra {

family bert_family() {
  using o = bert_options;
  return family_of<o>(
      "bert", "BERT: an encoder of masked texts, post-norm blocks; names masked tokens or classifies texts", bert,
      {{"layers", &o::layers, true, "blocks"},
       {"width", &o::width, true, "of the residual stream"},
       {"heads", &o::heads, true, "of the attention; divide width"},
       {"context", &o::context, true, "tokens per sample"},
       {"head", std::string{"masked-lm"}, false, "\"masked-lm\" or \"classification\"",
        [](o& options, const std::string& name) { options.head = bert_head_named("bert", name); }},
       {"hidden", &o::hidden, false, "units of the feed-forward networks; 0: 4 * width"},
       {"vocabulary", &o::vocabulary, false, "token ids; 0: as many as the data have (masked-lm)"},
       {"types", &o::types, false, "of segments"},
       {"activation", std::string{"gelu"}, false, "of the feed-forward networks: gelu, gelu_new, relu, silu",
        [](o& options, const std::string& name) { options.act = activation_option("bert", name); }},
       {"dropout", &o::dropout, false, "of embeddings, attention output, feed-forward output and pooled vector"},
       {"attention_dropout", &o::attention_dropout, false, "of the attention's probabilities"},
       {"eps", &o::eps, false, "of the norms"}});
}

}  // namespace hydra
