#include "apps/bench/ablation.hpp"

#include "actors/report/text_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

std::vector<std::string> digests(const report& r) {
  std::vector<std::string> all;
  for (const model_report& m : r.models) all.push_back(m.digest);
  return all;
}

report run_variant(bench_workload w, const ablation_variant& v) {
  w.ablation = v.switches;
  report r = run_bench(w);
  if (!r.all_finished()) throw fault_error{fault_code::internal, v.name + ": a model has failed"};
  return r;
}

/// One run of every variant, compared with the first.
void run_round(const bench_workload& w, std::vector<ablation_row>& rows) {
  double full = 0;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const report r = run_variant(w, ablation_variants()[i]);
    if (i == 0) {
      full = seconds(r.makespan);
      expected = digests(r);
    }
    if (digests(r) != expected)
      throw fault_error{fault_code::internal, rows[i].name + ": the parameters differ from the full system's"};
    rows[i].seconds.values.push_back(seconds(r.makespan));
    rows[i].over_full.values.push_back(seconds(r.makespan) / full);
  }
}

}  // namespace

const std::vector<ablation_variant>& ablation_variants() {
  static const std::vector<ablation_variant> all{{"full", {}},
                                                 {"no double buffer", {.double_buffer = false}},
                                                 {"no cache", {.cache = false}},
                                                 {"clean shards copied back", {.copy_back_clean = true}},
                                                 {"one model at a time", {.sharp = false}}};
  return all;
}

ablation_result measure_ablation(const ablation_bench_options& o) {
  bench_workload w = o.workload;
  const bench_plan plan = plan_bench(w);
  w.memory = plan.least;
  w.link = link_for(plan, o.ratio);
  ablation_result r{{}, w.link};
  for (const ablation_variant& v : ablation_variants()) r.rows.push_back({v.name, {}, {}});
  for (int round = 0; round < o.repeats; ++round) run_round(w, r.rows);
  return r;
}

std::string to_table(const ablation_result& r) {
  text_table t{{{"variant"},
                {"makespan s median [min..max]", alignment::right},
                {"over full median [min..max]", alignment::right}}};
  for (const ablation_row& row : r.rows) t.add({row.name, to_string(row.seconds), to_string(row.over_full)});
  return fmt::format("link {}; the same parameters, bit for bit, in all variants\n\n", to_string(r.link)) +
         t.to_string();
}

nlohmann::ordered_json json_of(const ablation_result& r) {
  nlohmann::ordered_json j{{"digests_equal", true}, {"rows", nlohmann::ordered_json::array()}};
  for (const ablation_row& row : r.rows)
    j["rows"].push_back({{"variant", row.name},
                         {"makespan_s", json_of(row.seconds)},
                         {"over_full", json_of(row.over_full)}});
  return j;
}

}  // namespace hydra::apps
