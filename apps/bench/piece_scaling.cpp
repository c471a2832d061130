#include "apps/bench/piece_scaling.hpp"

#include "actors/report/text_table.hpp"
#include "apps/bench/scaling_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>

namespace hydra::apps {

namespace {

/// Of each number of pieces, which decides results.
using parameters_of_pieces = std::map<std::uint32_t, known_parameters>;

std::string way_of(const piece_scaling_row& row) {
  if (row.pieces == 1) return "whole";
  return fmt::format("{} pieces {}", row.pieces, row.side_by_side ? "side by side" : "in turn");
}

byte_count least_memory(bench_workload w, std::uint32_t pieces) {
  w.pieces = pieces;
  return plan_bench(w).least;
}

std::vector<piece_scaling_row> rows_of(const piece_scaling_options& o) {
  const std::uint32_t pieces = o.workload.pieces;
  std::vector<piece_scaling_row> rows{{.memory = least_memory(o.workload, 1)},
                                      {.pieces = pieces, .memory = least_memory(o.workload, pieces)},
                                      {.pieces = pieces}};
  for (const int devices : o.devices) rows.push_back({.pieces = pieces, .side_by_side = true, .devices = devices});
  return rows;
}

scaling_run run_row(const piece_scaling_row& row, bench_workload w, parameters_of_pieces& parameters) {
  w.pieces = row.pieces;
  w.side_by_side = row.side_by_side;
  w.devices = row.devices;
  w.memory = row.memory;
  const report r = run_to_its_end(w);
  parameters[row.pieces].check(r, fmt::format("{} on {} devices", way_of(row), row.devices));
  return figures_of(r);
}

void repeat(std::vector<piece_scaling_row>& rows, const bench_workload& w, parameters_of_pieces& parameters) {
  double whole = 0;
  for (piece_scaling_row& row : rows) {
    const scaling_run run = run_row(row, w, parameters);
    if (row.pieces == 1) whole = run.makespan;
    row.speed_up.values.push_back(whole / run.makespan);
    row.over_bound.values.push_back(run.makespan / run.bound);
    row.utilisation.values.push_back(run.utilisation);
  }
}

}  // namespace

piece_scaling_result measure_piece_scaling(const piece_scaling_options& o) {
  piece_scaling_result r{rows_of(o)};
  parameters_of_pieces parameters;
  for (int i = 0; i < o.repeats; ++i) repeat(r.rows, o.workload, parameters);
  return r;
}

std::string to_table(const piece_scaling_result& r) {
  text_table t{{{"layers"},
                {"devices", alignment::right},
                {"memory", alignment::right},
                {"speed-up median [min..max]", alignment::right},
                {"makespan/bound", alignment::right},
                {"utilisation", alignment::right}}};
  for (const piece_scaling_row& row : r.rows)
    t.add({way_of(row), std::to_string(row.devices),
           row.memory == byte_count{} ? "not limited" : hydra::to_string(row.memory), to_string(row.speed_up),
           to_string(row.over_bound), fmt::format("{:.1f} %", 100 * row.utilisation.median())});
  return "one model; the same parameters, bit for bit, in all rows of pieces\n\n" + t.to_string();
}

nlohmann::ordered_json json_of(const piece_scaling_result& r) {
  auto rows = nlohmann::ordered_json::array();
  for (const piece_scaling_row& row : r.rows)
    rows.push_back({{"pieces", row.pieces},
                    {"side_by_side", row.side_by_side},
                    {"devices", row.devices},
                    {"memory_bytes", row.memory.value()},
                    {"speed_up", json_of(row.speed_up)},
                    {"makespan_over_bound", json_of(row.over_bound)},
                    {"utilisation", json_of(row.utilisation)}});
  return rows;
}

}  // namespace hydra::apps
