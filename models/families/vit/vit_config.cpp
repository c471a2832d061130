#include "models/families/vit/vit_config.hpp"

#include "models/families/activation_choice.hpp"
#include "models/families/labels.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra {
namespace {

using nlohmann::json;

/// [channels, height, width]; "image_size" is the side of a square or [height, width].
std::vector<std::int64_t> image_of(const model_config& config) {
  const std::int64_t channels = config.integer("num_channels", 3);
  if (!config.has("image_size") || !config.content()["image_size"].is_array()) {
    const std::int64_t side = config.integer("image_size", 224);
    return {channels, side, side};
  }
  const auto sides = config.integers("image_size");
  if (sides.size() != 2) config.refuse("image_size", "is neither the side of a square nor [height, width]");
  return {channels, sides[0], sides[1]};
}

vit_options read_options(const model_config& config, double dropout) {
  const auto read_dropout = [&](const char* key) { return dropout >= 0 ? dropout : config.real(key, 0.0); };
  return {.layers = config.integer("num_hidden_layers"),
          .width = config.integer("hidden_size"),
          .heads = config.integer("num_attention_heads"),
          .hidden = config.integer("intermediate_size"),
          .patch = config.integer("patch_size", 16),
          .image = image_of(config),
          .act = activation_key(config, "hidden_act"),
          .qkv_bias = config.boolean("qkv_bias", true),
          .dropout = read_dropout("hidden_dropout_prob"),
          .attention_dropout = read_dropout("attention_probs_dropout_prob"),
          .eps = config.real("layer_norm_eps", 1e-12)};
}

}  // namespace

chain_description vit_from_config(const model_config& config, const from_options& options) {
  if (!options.head.empty() && options.head != "classification")
    config.refuse("architectures", fmt::format("a vision transformer has no head \"{}\"; there is \"classification\"",
                                               shown(options.head)));
  const auto names = options.head.empty() ? label_names::stored : label_names::fresh;
  return labelled(vit(read_options(config, options.dropout)), config, names);
}

std::string vit_config_text(const vit_options& v, const data_source& data) {
  const bool square = v.image[1] == v.image[2];
  json table{{"architectures", {"ViTForImageClassification"}},
             {"model_type", "vit"},
             {"hidden_size", v.width},
             {"num_hidden_layers", v.layers},
             {"num_attention_heads", v.heads},
             {"intermediate_size", v.hidden},
             {"hidden_act", to_string(v.act)},
             {"hidden_dropout_prob", v.dropout},
             {"attention_probs_dropout_prob", v.attention_dropout},
             {"layer_norm_eps", v.eps},
             {"initializer_range", 0.02},
             {"num_channels", v.image[0]},
             {"image_size", square ? json(v.image[1]) : json{v.image[1], v.image[2]}},
             {"patch_size", v.patch},
             {"qkv_bias", v.qkv_bias},
             {"dtype", "float32"}};
  add_labels(table, data);
  return json_text(table, 2);
}

}  // namespace hydra
