#include "models/families/activation_choice.hpp"
#include "models/families/families.hpp"
#include "models/families/family_option.hpp"
#include "models/families/vit/vit.hpp"

namespace hydra {

namespace {

/// Of square images; none: the data decide.
void set_side(vit_options& o, std::int64_t side) {
  if (side != 0) o.image = {0, side, side};
}

void set_channels(vit_options& o, std::int64_t channels) {
  if (!o.image.empty()) o.image[0] = channels;
}

}  // namespace

family vit_family() {
  using o = vit_options;
  return family_of<o>(
      "vit", "vision transformer on images: patches as tokens, pre-norm blocks, a class token", vit,
      {{"layers", &o::layers, true, "blocks"},
       {"width", &o::width, true, "of the residual stream"},
       {"heads", &o::heads, true, "of the attention; divide width"},
       {"patch", &o::patch, true, "side of a patch, in pixels; divides the images' sides"},
       {"image", std::int64_t{0}, false, "side of the square images asked of the data; 0: as the data have them",
        set_side},
       {"channels", std::int64_t{3}, false, "of the images asked of the data", set_channels},
       {"hidden", &o::hidden, false, "units of the feed-forward networks; 0: 4 * width"},
       {"activation", std::string{"gelu"}, false, "of the feed-forward networks: gelu, gelu_new, relu, silu",
        [](o& options, const std::string& name) { options.act = activation_option("vit", name); }},
       {"qkv_bias", &o::qkv_bias, false, "query, key and value have one"},
       {"dropout", &o::dropout, false, "of embeddings, attention output and feed-forward output"},
       {"attention_dropout", &o::attention_dropout, false, "of the attention's probabilities"},
       {"eps", &o::eps, false, "of the norms"}});
}

}  // namespace hydra
