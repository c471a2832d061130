#include "apps/bench/pipeline_scaling.hpp"

#include "actors/report/text_table.hpp"
#include "apps/bench/scaling_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

std::string name_of(const pipeline_variant& v) { return v.policy.empty() ? "default" : v.policy; }

std::uint32_t shards_of(int devices, const pipeline_variant& v) {
  return static_cast<std::uint32_t>(devices) * v.shards_per_device;
}

void run_row(pipeline_scaling_row& row, bench_workload w, known_parameters& parameters) {
  w.policy = row.variant.policy;
  w.parallel.waves = row.variant.waves;
  w.layers_per_shard = (w.layers + 1) / shards_of(w.devices, row.variant);
  const report r = run_to_its_end(w);
  parameters.check(r, fmt::format("{} with {} waves", name_of(row.variant), row.variant.waves));
  const scaling_run run = figures_of(r);
  row.seconds.values.push_back(run.makespan);
  row.bubble.values.push_back(1 - run.utilisation);
  row.over_bound.values.push_back(run.makespan / run.bound);
}

}  // namespace

const std::vector<pipeline_variant>& pipeline_variants() {
  static const std::vector<pipeline_variant> all{{.policy = "naive-pipeline"},
                                                 {.policy = "gpipe", .waves = 16},
                                                 {.policy = "one-f-one-b", .waves = 16},
                                                 {.policy = "interleaved", .waves = 16, .shards_per_device = 2},
                                                 {.policy = {}, .waves = 16},
                                                 {.policy = {}, .waves = 16, .shards_per_device = 2}};
  return all;
}

double bubble_formula(int devices, const pipeline_variant& v) {
  const double others = devices - 1;
  return others / (v.waves * v.shards_per_device + others);
}

pipeline_scaling_result measure_pipeline_scaling(const pipeline_scaling_options& o) {
  pipeline_scaling_result r{o.workload.devices, {}};
  for (const pipeline_variant& v : o.variants) r.rows.push_back({.variant = v});
  known_parameters parameters;
  for (int i = 0; i < o.repeats; ++i)
    for (pipeline_scaling_row& row : r.rows) run_row(row, o.workload, parameters);
  return r;
}

std::string to_table(const pipeline_scaling_result& r) {
  text_table t{{{"policy"},
                {"shards", alignment::right},
                {"waves", alignment::right},
                {"makespan s median [min..max]", alignment::right},
                {"bubble", alignment::right},
                {"formula", alignment::right},
                {"makespan/bound", alignment::right}}};
  for (const pipeline_scaling_row& row : r.rows)
    t.add({name_of(row.variant), std::to_string(shards_of(r.devices, row.variant)), std::to_string(row.variant.waves),
           to_string(row.seconds), fmt::format("{:.1f} %", 100 * row.bubble.median()),
           fmt::format("{:.1f} %", 100 * bubble_formula(r.devices, row.variant)), to_string(row.over_bound)});
  return fmt::format("one model on {} devices; the same parameters, bit for bit, in all rows\n\n", r.devices) +
         t.to_string();
}

nlohmann::ordered_json json_of(const pipeline_scaling_result& r) {
  auto rows = nlohmann::ordered_json::array();
  for (const pipeline_scaling_row& row : r.rows)
    rows.push_back({{"policy", name_of(row.variant)},
                    {"devices", r.devices},
                    {"shards", shards_of(r.devices, row.variant)},
                    {"waves", row.variant.waves},
                    {"makespan_s", json_of(row.seconds)},
                    {"bubble", json_of(row.bubble)},
                    {"bubble_formula", bubble_formula(r.devices, row.variant)},
                    {"makespan_over_bound", json_of(row.over_bound)}});
  return rows;
}

}  // namespace hydra::apps
