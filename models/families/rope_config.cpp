#include "models/families/rope_config.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra {
namespace {

using nlohmann::json;

/// The key of the kind of scaling: "rope_type", or "type" before 2024.
const char* kind_key(const model_config& table) { return table.has("rope_type") ? "rope_type" : "type"; }

rope_scaling scaling_from(const model_config& table, std::int64_t longest) {
  const char* const key = kind_key(table);
  const std::string kind = table.text(key, "default");
  if (kind == "default") return {};
  if (kind == "linear") return {.how = rope_scaling::kind::linear, .factor = table.real("factor")};
  if (kind != "llama3")
    table.refuse(
        key, fmt::format("Hydra does not know the rotary positions \"{}\"; it knows default, linear and llama3", kind));
  return {.how = rope_scaling::kind::llama3,
          .factor = table.real("factor"),
          .low_frequency_factor = table.real("low_freq_factor"),
          .high_frequency_factor = table.real("high_freq_factor"),
          .original_context = table.integer("original_max_position_embeddings", longest)};
}

}  // namespace

rope_choice rope_in(const model_config& table, double theta, std::int64_t longest) {
  table.require("partial_rotary_factor", 1.0);
  return {table.real("rope_theta", theta), scaling_from(table, longest)};
}

rope_choice rope_from(const model_config& config) {
  config.require("partial_rotary_factor", 1.0);
  const double theta = config.real("rope_theta", 10000);
  const std::int64_t longest = config.integer("max_position_embeddings");
  if (const auto table = config.table("rope_parameters")) {
    config.ignore({"rope_scaling"});  // the same, for earlier versions of transformers
    return rope_in(*table, theta, longest);
  }
  if (const auto table = config.table("rope_scaling")) return rope_in(*table, theta, longest);
  return {theta, {}};
}

void write_rope(json& config, const rope_choice& rope) {
  json scaling{{"rope_type", "default"}};
  if (rope.scaling.how != rope_scaling::kind::none)
    scaling = {{"rope_type", to_string(rope.scaling.how)}, {"factor", rope.scaling.factor}};
  if (rope.scaling.how == rope_scaling::kind::llama3) {
    scaling["low_freq_factor"] = rope.scaling.low_frequency_factor;
    scaling["high_freq_factor"] = rope.scaling.high_frequency_factor;
    scaling["original_max_position_embeddings"] = rope.scaling.original_context;
  }
  config["rope_theta"] = rope.theta;
  config["rope_scaling"] = rope.scaling.how == rope_scaling::kind::none ? json(nullptr) : scaling;
  scaling["rope_theta"] = rope.theta;
  config["rope_parameters"] = std::move(scaling);
}

}  // namespace hydra
