#include "models/families/labels.hpp"

#include "models/families/config_text.hpp"
#include "runtime/base/json_text.hpp"

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
  config.refuse("id2label", fmt::format("the checkpoint has {} classes, but {} has {}. Set head = "
                                        "\"classification\" to start with a new classifier",
                                        label_count(config), data.describe(), data.classes()));
}

namespace {

/// File names are arbitrary bytes; JSON is UTF-8.
std::string as_utf8(const std::string& name) {
  return parse_json(json_text(json(name))).get<std::string>();
}

}  // namespace

void add_labels(json& table, const data_source& data) {
  const std::vector<std::string> names = data.class_names();
  const auto classes = static_cast<std::size_t>(data.classes());
  for (std::size_t i = 0; i < classes; ++i) {
    const std::string name = names.size() == classes ? as_utf8(names[i]) : fmt::format("LABEL_{}", i);
    table["id2label"][std::to_string(i)] = name;
    table["label2id"][name] = i;
  }
}

std::string exported_config(const json& original, const std::string& own, label_names names) {
  json changes = parse_json(own), result = original;
  const auto labels = original.find("id2label");
  const bool as_many = labels != original.end() && changes.contains("id2label") && labels->size() == changes["id2label"].size();
  if (names == label_names::stored && as_many) {
    changes.erase("id2label");
    changes.erase("label2id");
  }
  if (names == label_names::fresh) result.erase("problem_type");
  result.update(changes);
  erase_stale(result);
  result.erase("num_labels");
  return json_text(result, 2);
}

chain_description labelled(chain_description description, const model_config& config, label_names names) {
  if (names == label_names::stored) config.require("problem_type", "single_label_classification");
  description.build = [config, names, build = std::move(description.build)](const data_source& data) {
    if (names == label_names::stored) require_labels(config, data);
    chain c = build(data);
    hub_form form = c.hub();
    form.config = exported_config(config.content(), form.config, names);
    return c.publish_as(std::move(form));
  };
  return description;
}

}  // namespace hydra
