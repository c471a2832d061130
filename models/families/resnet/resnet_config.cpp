#include "models/families/resnet/resnet_config.hpp"

#include "models/families/labels.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra {
namespace {

using nlohmann::json;

resnet_options read_options(const model_config& config) {
  return {.depths = config.integers("depths"),
          .hidden_sizes = config.integers("hidden_sizes"),
          .embedding_size = config.integer("embedding_size", 64),
          .layer_type = config.text("layer_type", "bottleneck"),
          .downsample_in_first_stage = config.boolean("downsample_in_first_stage", false),
          .downsample_in_bottleneck = config.boolean("downsample_in_bottleneck", false),
          .channels = config.integer("num_channels", 3)};
}

void refuse_text_options(const model_config& config, const from_options& options) {
  const auto refuse = [&](const char* option, const char* why) {
    hydra::refuse(fmt::format("{}: a resnet {}; leave {} out", config.file(), why, option));
  };
  if (options.context > 0) refuse("context", "sees images, no tokens");
  if (options.dropout >= 0) refuse("dropout", "has no dropout");
  if (!options.head.empty() && options.head != "classification") refuse("head", "classifies");
}

}  // namespace

chain_description resnet_from_config(const model_config& config, const from_options& options) {
  refuse_text_options(config, options);
  config.require("hidden_act", "relu");
  if (config.integers("depths").size() != config.integers("hidden_sizes").size())
    config.refuse("depths", "there are more or fewer of them than hidden_sizes");
  return labelled(resnet(read_options(config)), config,
                  options.head.empty() ? label_names::stored : label_names::fresh);
}

std::string resnet_config(const resnet_options& options, const data_source& data) {
  json table{{"architectures", {"ResNetForImageClassification"}},
             {"model_type", "resnet"},
             {"num_channels", options.channels},
             {"embedding_size", options.embedding_size},
             {"hidden_sizes", options.hidden_sizes},
             {"depths", options.depths},
             {"layer_type", options.layer_type},
             {"hidden_act", "relu"},
             {"downsample_in_first_stage", options.downsample_in_first_stage},
             {"downsample_in_bottleneck", options.downsample_in_bottleneck},
             {"dtype", "float32"}};
  add_labels(table, data);
  return json_text(table, 2);
}

}  // namespace hydra
