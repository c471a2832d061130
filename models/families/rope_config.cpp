#include "models/families/rope_config.hpp"

#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra {
namespace {

using nlohmann::json;

constexpr const char* rope_base_key = "rope_theta";

/// The key of the kind of scaling: "rope_type", or "type" before 2024.
const char* kind_key(const model_config& table) { return table.has("rope_type") ? "rope_type" : "type"; }

rope_scaling scaling_from(const model_config& table, std::int64_t longest) {
  const char* const key = kind_key(table);
  const std::string kind = table.text(key, "default");
  if (kind == "default") return {};
  if (kind == "linear") return {.how = rope_scaling::kind::linear, .factor = table.real("factor")};
  if (kind != "llama3")
    table.refuse(key,
                 fmt::format("Hydra does not know the rotary positions \"{}\"; it knows default, linear and llama3",
                             shown(kind)));
  return {.how = rope_scaling::kind::llama3,
          .factor = table.real("factor"),
          .low_frequency_factor = table.real("low_freq_factor"),
          .high_frequency_factor = table.real("high_freq_factor"),
          .original_context = table.integer("original_max_position_embeddings", longest)};
}

}  // namespace

rope_choice rope_in(const model_config& table, double theta, std::int64_t longest) {
  table.require("partial_rotary_factor", 1.0);
  return {table.real(rope_base_key, theta), scaling_from(table, longest)};
}

rope_choice rope_from(const model_config& config) {
  config.require("partial_rotary_factor", 1.0);
  const double theta = config.real(rope_base_key, 10000);
  const std::int64_t longest = config.integer("max_position_embeddings");
  const auto now = config.table("rope_parameters"), before = config.table("rope_scaling");
  for (const auto& table : {now, before})
    if (table) require_same_base(config, rope_base_key, *table);
  if (!now) return before ? rope_in(*before, theta, longest) : rope_choice{theta, {}};
  const rope_choice chosen = rope_in(*now, theta, longest);
  if (before) require_same_rope(config, chosen, rope_in(*before, theta, longest));
  return chosen;
}

void require_same_base(const model_config& config, const char* key, const model_config& table) {
  if (!config.has(key) || !table.has(rope_base_key) || config.real(key) == table.real(rope_base_key)) return;
  table.refuse(rope_base_key, fmt::format("{} contradicts {} = {} outside of this table: transformers 5 computes with "
                                          "the first, earlier versions with the second; remove the one that is wrong",
                                          table.real(rope_base_key), key, config.real(key)));
}

void require_same_rope(const model_config& config, const rope_choice& now, const rope_choice& before) {
  if (now.scaling != before.scaling)
    config.refuse("rope_scaling",
                  "says something else than rope_parameters, which newer versions of transformers write in "
                  "its place: remove the one that is wrong");
  if (now.theta != before.theta)
    config.refuse("rope_scaling",
                  fmt::format("rope_theta is {} with it and {} in rope_parameters, which newer versions of "
                              "transformers write in its place: remove the one that is wrong",
                              before.theta, now.theta));
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
