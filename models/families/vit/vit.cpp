#include "models/families/vit/vit.hpp"

#include "models/families/preprocessor_config.hpp"
#include "models/families/sample_kind.hpp"
#include "models/families/vit/vit_config.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/encoder_attention.hpp"
#include "models/layers/vit_block.hpp"
#include "models/layers/vit_classifier.hpp"
#include "models/layers/vit_embedding.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hydra {
namespace {

void check_image(const vit_options& options) {
  const auto& image = options.image;
  if (image.empty()) return;
  if (image.size() != 3)
    refuse(fmt::format("vit: images are [{}]; give channels, height, width", fmt::join(image, ", ")));
  for (const std::int64_t side : image) require_positive("vit: a side of the images", side);
  if (image[1] % options.patch != 0 || image[2] % options.patch != 0)
    refuse(fmt::format("vit: patches of {} pixels do not tile images of {} x {}", options.patch, image[1], image[2]));
}

void check(const vit_options& options) {
  require_positive("vit: layers", options.layers);
  require_encoder_options("vit", options);
  require_positive("vit: patch", options.patch);
  check_image(options);
}

/// The size of the data's images; it must be the requested one.
std::vector<std::int64_t> images_of(const vit_options& options, const data_source& data) {
  const tensor_spec input = data.sample_input();
  require_kind("vit", data, sample_kind::images);
  require_input(fmt::format("vit on {}: a sample", data.describe()), input, element::f32, 3);
  if (!options.image.empty() && options.image != input.shape)
    refuse(fmt::format("vit on {}: images are [{}]; it wants [{}]", data.describe(), fmt::join(input.shape, ", "),
                       fmt::join(options.image, ", ")));
  return input.shape;
}

chain build_vit(vit_options options, const data_source& data) {
  options.image = images_of(options, data);
  check_image(options);
  chain result{"vit", data.sample_input(), cross_entropy()};
  result.add("vit.embeddings.", std::make_shared<vit_embedding>(vit_embedding_options{.channels = options.image[0],
                                                                                      .height = options.image[1],
                                                                                      .width = options.image[2],
                                                                                      .patch = options.patch,
                                                                                      .features = options.width,
                                                                                      .dropout = options.dropout}));
  const auto block = std::make_shared<vit_block>(vit_block_options{.width = options.width,
                                                                   .heads = options.heads,
                                                                   .hidden = options.hidden,
                                                                   .act = options.act,
                                                                   .qkv_bias = options.qkv_bias,
                                                                   .dropout = options.dropout,
                                                                   .attention_dropout = options.attention_dropout,
                                                                   .eps = options.eps});
  for (std::int64_t i = 0; i < options.layers; ++i) result.add(fmt::format("vit.encoder.layer.{}.", i), block);
  result.add("", std::make_shared<vit_classifier>(vit_classifier_options{
                     .width = options.width, .classes = data.classes(), .eps = options.eps}));
  result.publish_as(
      {.config = vit_config_text(options, data), .stored_name = {}, .preprocessor = preprocessor_config(data)});
  result.validate();
  return result;
}

}  // namespace

chain_description vit(const vit_options& options) {
  vit_options complete = options;
  if (complete.hidden == 0) complete.hidden = 4 * complete.width;
  check(complete);
  chain_description result{"vit", 0, [complete](const data_source& data) { return build_vit(complete, data); }};
  result.image = complete.image;
  return result;
}

}  // namespace hydra
