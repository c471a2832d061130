#include "apps/bench/replay.hpp"

#include "actors/report/text_table.hpp"
#include "actors/session/session.hpp"
#include "apps/bench/scratch_folder.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/simulate/recorded_simulation.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/workload.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

void run_into(const workload& w, const std::filesystem::path& folder) {
  record_workload(folder, w.expanded);
  session_options options = w.options;
  options.log = verbosity::quiet;
  options.output = folder;
  session s{options};
  assemble(s, w);
  if (!s.run().all_finished()) throw fault_error{fault_code::internal, "a model of the benchmark has failed"};
}

void add_repeat(const workload& w, const std::filesystem::path& folder, replay_result& r) {
  const scratch_folder removed{folder};
  run_into(w, folder);
  policy_registry registry;
  const comparison c = simulate_recorded(folder, {}, registry);
  r.run.values.push_back(seconds(c.measured.value()));
  r.simulated.values.push_back(seconds(c.rows.at(0).makespan));
  r.simulated_over_run.values.push_back(r.simulated.values.back() / r.run.values.back());
}

}  // namespace

replay_result measure_replay(const replay_options& o) {
  const workload w = read_workload(o.workload);
  replay_result r{w.options.name, {}, {}, {}};
  for (int repeat = 0; repeat < o.repeats; ++repeat) add_repeat(w, o.folder, r);
  return r;
}

std::string to_table(const replay_result& r) {
  text_table t{{{r.workload}, {"median [min..max]", alignment::right}}};
  t.add({"run, seconds", to_string(r.run)});
  t.add({"simulated, seconds", to_string(r.simulated)});
  t.add({"simulated / run", to_string(r.simulated_over_run)});
  return t.to_string();
}

std::string to_json(const replay_result& r, const machine_description& on) {
  using json = nlohmann::ordered_json;
  const json j{{"name", "replay"},
               {"processor", on.processor},
               {"cores_used", on.cores_used},
               {"workload", r.workload},
               {"run_s", json_of(r.run)},
               {"simulated_s", json_of(r.simulated)},
               {"simulated_over_run", json_of(r.simulated_over_run)}};
  return json_text(j, 2) + "\n";
}

}  // namespace hydra::apps
