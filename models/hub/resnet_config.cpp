#include "models/hub/resnet_config.hpp"

#include "runtime/fault.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

using nlohmann::json;

/// transformers writes a name for each class, and their number only where they have none. 2 is its default.
std::int64_t class_count(const model_config& config) {
  const auto names = config.table("id2label");
  return names ? static_cast<std::int64_t>(names->content().size()) : config.integer("num_labels", 2);
}

void refuse_text_options(const model_config& config, const from_options& options) {
  const auto refuse = [&](const char* option, const char* why) {
    throw fault_error{fault_code::bad_input, fmt::format("{}: a resnet {}; leave {} out", config.file(), why, option)};
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
  return resnet({.depths = config.integers("depths"),
                 .hidden_sizes = config.integers("hidden_sizes"),
                 .embedding_size = config.integer("embedding_size", 64),
                 .layer_type = config.text("layer_type", "bottleneck"),
                 .downsample_in_first_stage = config.boolean("downsample_in_first_stage", false),
                 .downsample_in_bottleneck = config.boolean("downsample_in_bottleneck", false),
                 .channels = config.integer("num_channels", 3),
                 .classes = options.head.empty() ? class_count(config) : 0});
}

std::string resnet_config(const resnet_options& options) {
  json names = json::object(), ids = json::object();
  for (std::int64_t i = 0; i < options.classes; ++i) {
    const std::string name = fmt::format("LABEL_{}", i);
    names[std::to_string(i)] = name, ids[name] = i;
  }
  return json{{"architectures", {"ResNetForImageClassification"}},
              {"model_type", "resnet"},
              {"num_channels", options.channels},
              {"embedding_size", options.embedding_size},
              {"hidden_sizes", options.hidden_sizes},
              {"depths", options.depths},
              {"layer_type", options.layer_type},
              {"hidden_act", "relu"},
              {"downsample_in_first_stage", options.downsample_in_first_stage},
              {"downsample_in_bottleneck", options.downsample_in_bottleneck},
              {"id2label", names},
              {"label2id", ids}}
      .dump(2);
}

}  // namespace hydra
