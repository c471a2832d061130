#include "models/families/labels.hpp"

#include "models/families/config_text.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace hydra {

using nlohmann::json;

namespace {

std::int64_t label_count(const model_config& config, const std::optional<model_config>& labels) {
  constexpr std::int64_t most = 1'000'000;
  const std::int64_t count =
      labels ? static_cast<std::int64_t>(labels->content().size()) : config.integer("num_labels", 2);
  if (count < 1 || count > most)
    config.refuse(labels ? "id2label" : "num_labels", fmt::format("{} classes; there may be 1 to {}", count, most));
  return count;
}

/// Transformers takes any value for a name.
std::string label_at(const model_config& labels, const std::string& number) {
  if (!labels.has(number))
    labels.refuse(number, fmt::format("is missing; there are {} classes", labels.content().size()));
  const json& name = labels.content()[number];
  return name.is_string() ? name.get<std::string>() : json_text(name);
}

/// File names are arbitrary bytes; JSON is UTF-8.
std::string as_utf8(const std::string& name) {
  return parse_json(json_text(json(name))).get<std::string>();
}

/// The first class that the data call something else: as the user has named it, or by labels that were sorted.
void note_other_names(chain& c, const model_config& config, const std::vector<std::string>& stored,
                      const data_source& data) {
  const std::vector<std::string> names = data.class_names();
  const auto [ours, theirs] = std::ranges::mismatch(names, stored);
  if (ours == names.end() || theirs == stored.end()) return;
  c.note(fmt::format("{}: class {} is \"{}\" in id2label and \"{}\" in {}; an export has the names of the data",
                     config.file(), ours - names.begin(), shown(*theirs), shown(as_utf8(*ours)), data.describe()));
}

/// What a class is called is said by id2label; label2id is for programs that train.
void note_contradiction(chain& c, const model_config& config, const std::vector<std::string>& stored) {
  const json numbers = config.content().value("label2id", json());
  if (!numbers.is_object()) return;
  const auto agrees = [&](const std::string& name) {
    const auto found = numbers.find(name);
    return found != numbers.end() && found->is_number_integer() && *found >= 0 && *found < stored.size() &&
           stored[found->get<std::size_t>()] == name;
  };
  if (std::ranges::all_of(stored, agrees)) return;
  c.note(fmt::format("{}: label2id and id2label differ; id2label counts", config.file()));
}

}  // namespace

std::vector<std::string> stored_labels(const model_config& config) {
  const auto labels = config.table("id2label");
  const std::int64_t count = label_count(config, labels);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    names.push_back(labels ? label_at(*labels, number) : "LABEL_" + number);
  }
  return names;
}

void require_labels(const model_config& config, const std::vector<std::string>& stored, const data_source& data) {
  const auto count = static_cast<std::int64_t>(stored.size());
  if (count == data.classes()) return;
  config.refuse("id2label",
                fmt::format("the checkpoint has {} classes, but {} has {}. Set head = \"classification\" to start "
                            "with a new classifier, or give a label of the data for each class of the "
                            "checkpoint, labels = [...]",
                            count, data.describe(), data.classes()));
}

void add_labels(json& table, const data_source& data) {
  const std::vector<std::string> names = data.class_names();
  const auto classes = static_cast<std::size_t>(data.classes());
  for (std::size_t i = 0; i < classes; ++i) {
    const std::string name = names.size() == classes ? as_utf8(names[i]) : fmt::format("LABEL_{}", i);
    table["id2label"][std::to_string(i)] = name;
    table["label2id"][name] = i;
  }
}

std::string exported_config(const json& original, const std::string& own, label_names names, const data_source& data) {
  json changes = parse_json(own), result = original;
  const bool has_labels = original.value("id2label", json()).is_object();
  if (names == label_names::stored && has_labels && data.class_names().empty()) {
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
  if (names == label_names::stored) {
    config.require("problem_type", "single_label_classification");
    description.labels = stored_labels(config);
  }
  description.build = [config, names, stored = description.labels,
                       build = std::move(description.build)](const data_source& data) {
    if (names == label_names::stored) require_labels(config, stored, data);
    chain c = build(data);
    if (names == label_names::stored) {
      note_other_names(c, config, stored, data);
      note_contradiction(c, config, stored);
    }
    hub_form form = c.hub();
    form.config = exported_config(config.content(), form.config, names, data);
    return c.publish_as(std::move(form));
  };
  return description;
}

}  // namespace hydra
