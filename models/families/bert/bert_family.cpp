#include "models/families/activation_option.hpp"
#include "models/families/bert/bert.hpp"
#include "models/families/families.hpp"

namespace hydra {

family bert_family() {
  const bert_options standard;
  return {"bert",
          "BERT: an encoder of masked texts, post-norm blocks; names masked tokens or classifies texts",
          {{"layers", std::int64_t{0}, true, "blocks"},
           {"width", std::int64_t{0}, true, "of the residual stream"},
           {"heads", std::int64_t{0}, true, "of the attention; divide width"},
           {"context", std::int64_t{0}, true, "tokens per sample"},
           {"head", "masked-lm", false, "\"masked-lm\" or \"classification\""},
           {"hidden", standard.hidden, false, "units of the feed-forward networks; 0: 4 * width"},
           {"vocabulary", standard.vocabulary, false, "token ids; 0: as many as the data have (masked-lm)"},
           {"types", standard.types, false, "of segments"},
           {"activation", "gelu", false, "of the feed-forward networks: gelu, gelu_new, relu, silu"},
           {"dropout", standard.dropout, false,
            "of embeddings, attention output, feed-forward output and pooled vector"},
           {"attention_dropout", standard.attention_dropout, false, "of the attention's probabilities"},
           {"eps", standard.eps, false, "of the norms"}},
          [](const option_values& o) {
            return bert({.layers = get<std::int64_t>(o, "layers"),
                         .width = get<std::int64_t>(o, "width"),
                         .heads = get<std::int64_t>(o, "heads"),
                         .hidden = get<std::int64_t>(o, "hidden"),
                         .context = get<std::int64_t>(o, "context"),
                         .vocabulary = get<std::int64_t>(o, "vocabulary"),
                         .types = get<std::int64_t>(o, "types"),
                         .act = activation_option("bert", get<std::string>(o, "activation")),
                         .dropout = get<double>(o, "dropout"),
                         .attention_dropout = get<double>(o, "attention_dropout"),
                         .eps = get<double>(o, "eps"),
                         .head = bert_head_named("bert", get<std::string>(o, "head"))});
          }};
}

}  // namespace hydra
