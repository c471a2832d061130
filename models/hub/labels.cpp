#include "models/hub/labels.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <utility>
#include <vector>

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

std::string exported_config(const json& original, const std::string& own, label_names names) {
  json changes = json::parse(own), result = original;
  const auto labels = original.find("id2label");
  const bool as_many = labels != original.end() && changes.contains("id2label") && labels->size() == changes["id2label"].size();
  if (names == label_names::stored && as_many) {
    changes.erase("id2label");
    changes.erase("label2id");
  }
  if (names == label_names::fresh) result.erase("problem_type");
  result.update(changes);
  for (const char* other_type : {"torch_dtype", "num_labels"}) result.erase(other_type);
  return result.dump(2);
}

namespace {

/// The data's names for the classes of an own config.json that has some.
std::string with_names(const std::string& own, const std::vector<std::string>& names) {
  json table = json::parse(own);
  if (names.empty() || !table.contains("id2label") || table["id2label"].size() != names.size()) return own;
  table["label2id"] = json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    table["id2label"][std::to_string(i)] = names[i];
    table["label2id"][names[i]] = i;
  }
  return table.dump();
}

}  // namespace

chain_description labelled(chain_description description, const model_config& config, label_names names) {
  if (names == label_names::stored) config.require("problem_type", "single_label_classification");
  description.build = [config, names, build = std::move(description.build)](const data_source& data) {
    if (names == label_names::stored) require_labels(config, data);
    chain c = build(data);
    const std::string own = with_names(c.hub().config, data.class_names());
    return c.publish_as({.config = exported_config(config.content(), own, names), .stored_name = {}});
  };
  return description;
}

}  // namespace hydra
