#include "models/families/resnet/resnet.hpp"

#include "models/families/preprocessor_config.hpp"
#include "models/families/resnet/resnet_config.hpp"
#include "models/families/sample_kind.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/pooled_head.hpp"
#include "models/layers/resnet_block.hpp"
#include "models/layers/resnet_embedding.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

void check_stages(const resnet_options& o) {
  if (o.depths.empty() || o.depths.size() != o.hidden_sizes.size())
    refuse(fmt::format("resnet: {} depths and {} hidden_sizes; each stage needs one of both", o.depths.size(),
                       o.hidden_sizes.size()));
  for (const std::int64_t n : o.depths) require_positive("resnet: one of depths", n);
  for (const std::int64_t n : o.hidden_sizes) require_positive("resnet: one of hidden_sizes", n);
}

void check(const resnet_options& o) {
  require_positive("resnet: embedding_size", o.embedding_size);
  check_stages(o);
  if (o.layer_type != "basic" && o.layer_type != "bottleneck")
    refuse(fmt::format("resnet: layer_type is \"{}\"; use \"bottleneck\" or \"basic\"", shown(o.layer_type)));
  if (o.layer_type == "bottleneck")
    for (const std::int64_t n : o.hidden_sizes) require_groups("resnet: bottlenecks", 4, n);
}

/// The value of the data, which must equal the option if that is set.
std::int64_t agreed(const char* what, std::int64_t reported, std::int64_t there) {
  if (reported > 0 && reported != there)
    refuse(fmt::format("resnet: {} {}, but the data have {}", reported, what, there));
  return there;
}

void add_stage(chain& c, const resnet_options& o, std::size_t stage) {
  const bool halves = stage > 0 || o.downsample_in_first_stage;
  resnet_block_options block{.in = stage == 0 ? o.embedding_size : o.hidden_sizes[stage - 1],
                             .out = o.hidden_sizes[stage],
                             .stride = halves ? 2 : 1,
                             .bottleneck = o.layer_type == "bottleneck",
                             .stride_at_once = o.downsample_in_bottleneck};
  for (std::int64_t l = 0; l < o.depths[stage]; ++l) {
    c.add(fmt::format("resnet.encoder.stages.{}.layers.{}.", stage, l), std::make_shared<resnet_block>(block));
    block.in = block.out, block.stride = 1, block.stride_at_once = false;
  }
}

chain build_resnet(resnet_options options, const data_source& data) {
  const tensor_spec input = data.sample_input();
  require_kind("resnet", data, sample_kind::images);
  require_input(fmt::format("resnet on {}: a sample", data.describe()), input, element::f32, 3);
  options.channels = agreed("channels", options.channels, input.shape[0]);
  options.classes = agreed("classes", options.classes, data.classes());
  chain result{"resnet", input, cross_entropy()};
  result.add("resnet.embedder.embedder.",
             std::make_shared<resnet_embedding>(
                 resnet_embedding_options{.in = options.channels, .out = options.embedding_size}));
  for (std::size_t s = 0; s < options.depths.size(); ++s) add_stage(result, options, s);
  result.add("classifier.1.", std::make_shared<pooled_head>(pooled_head_options{.in = options.hidden_sizes.back(),
                                                                                .out = options.classes}));
  result.publish_as(
      {.config = resnet_config(options, data), .stored_name = {}, .preprocessor = preprocessor_config(data)});
  result.validate();
  return result;
}

}  // namespace

chain_description resnet(const resnet_options& options) {
  check(options);
  return {"resnet", 0, [options](const data_source& data) { return build_resnet(options, data); }};
}

}  // namespace hydra
