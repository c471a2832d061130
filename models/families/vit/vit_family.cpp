#include "models/families/activation_option.hpp"
#include "models/families/families.hpp"
#include "models/families/vit/vit.hpp"

namespace hydra {

namespace {

/// [channels, height, width] of square images; empty: the data decide.
std::vector<std::int64_t> square_images(const option_values& o) {
  const auto side = get<std::int64_t>(o, "image");
  if (side == 0) return {};
  return {get<std::int64_t>(o, "channels"), side, side};
}

}  // namespace

family vit_family() {
  const vit_options standard;
  return {"vit",
          "vision transformer on images: patches as tokens, pre-norm blocks, a class token",
          {{"layers", std::int64_t{0}, true, "blocks"},
           {"width", std::int64_t{0}, true, "of the residual stream"},
           {"heads", std::int64_t{0}, true, "of the attention; divide width"},
           {"patch", std::int64_t{0}, true, "side of a patch, in pixels; divides the images' sides"},
           {"image", std::int64_t{0}, false, "side of the square images asked of the data; 0: as the data have them"},
           {"channels", std::int64_t{3}, false, "of the images asked of the data"},
           {"hidden", standard.hidden, false, "units of the feed-forward networks; 0: 4 * width"},
           {"activation", "gelu", false, "of the feed-forward networks: gelu, gelu_new, relu, silu"},
           {"qkv_bias", standard.qkv_bias, false, "query, key and value have one"},
           {"dropout", standard.dropout, false, "of embeddings, attention output and feed-forward output"},
           {"attention_dropout", standard.attention_dropout, false, "of the attention's probabilities"},
           {"eps", standard.eps, false, "of the norms"}},
          [](const option_values& o) {
            return vit({.layers = get<std::int64_t>(o, "layers"),
                        .width = get<std::int64_t>(o, "width"),
                        .heads = get<std::int64_t>(o, "heads"),
                        .hidden = get<std::int64_t>(o, "hidden"),
                        .patch = get<std::int64_t>(o, "patch"),
                        .image = square_images(o),
                        .act = activation_option("vit", get<std::string>(o, "activation")),
                        .qkv_bias = get<bool>(o, "qkv_bias"),
                        .dropout = get<double>(o, "dropout"),
                        .attention_dropout = get<double>(o, "attention_dropout"),
                        .eps = get<double>(o, "eps")});
          }};
}

}  // namespace hydra
