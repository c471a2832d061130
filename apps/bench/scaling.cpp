#include "apps/bench/scaling.hpp"

#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

template <class Part>
void add_table(std::string& text, const std::optional<Part>& part) {
  if (part) text += (text.empty() ? "" : "\n") + to_table(*part);
}

template <class Part>
void add_json(nlohmann::ordered_json& j, const char* name, const std::optional<Part>& part) {
  if (part) j[name] = json_of(*part);
}

}  // namespace

const std::vector<std::string>& scaling_rows() {
  static const std::vector<std::string> all{"all", "models", "replicas", "pipelines", "pieces"};
  return all;
}

scaling_result measure_scaling(const scaling_options& o) {
  const auto asked = [&o](const char* rows) { return o.rows == "all" || o.rows == rows; };
  scaling_result r;
  if (asked("models")) r.models = measure_model_scaling({.repeats = o.repeats});
  if (asked("replicas")) r.replicas = measure_replica_scaling({.repeats = o.repeats});
  if (asked("pipelines")) r.pipelines = measure_pipeline_scaling({.repeats = o.repeats});
  if (asked("pieces")) r.pieces = measure_piece_scaling({.repeats = o.repeats});
  return r;
}

std::string to_table(const scaling_result& r) {
  std::string text;
  add_table(text, r.models);
  add_table(text, r.replicas);
  add_table(text, r.pipelines);
  add_table(text, r.pieces);
  return text;
}

nlohmann::ordered_json json_of(const scaling_result& r) {
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  add_json(j, "models", r.models);
  add_json(j, "replicas", r.replicas);
  add_json(j, "pipelines", r.pipelines);
  add_json(j, "pieces", r.pieces);
  return j;
}

}  // namespace hydra::apps
