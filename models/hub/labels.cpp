#include "models/hub/labels.hpp"

#include <fmt/format.h>

namespace hydra {

using nlohmann::json;

std::int64_t label_count(const model_config& config) {
  if (const auto labels = config.table("id2label")) return static_cast<std::int64_t>(labels->content().size());
  return config.integer("num_labels", 2);
}

void require_labels(const model_config& config, const data_source& data) {
  if (label_count(config) == data.classes()) return;
  config.refuse("id2label", fmt::format("the checkpoint tells {} classes apart; {} has {}. Set head = "
                                        "\"classification\" to begin with a new classifier",
                                        label_count(config), data.describe(), data.classes()));
}

void add_labels(json& table, std::int64_t classes) {
  for (std::int64_t i = 0; i < classes; ++i) {
    const std::string name = fmt::format("LABEL_{}", i);
    table["id2label"][std::to_string(i)] = name;
    table["label2id"][name] = i;
  }
}

std::string exported_config(const json& original, const std::string& own) {
  json changes = json::parse(own), result = original;
  const auto labels = original.find("id2label");
  if (labels != original.end() && changes.contains("id2label") && labels->size() == changes["id2label"].size()) {
    changes.erase("id2label");
    changes.erase("label2id");
  }
  result.update(changes);
  for (const char* other_type : {"torch_dtype", "num_labels"}) result.erase(other_type);
  return result.dump(2);
}

}  // namespace hydra
