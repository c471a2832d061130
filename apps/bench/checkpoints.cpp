#include "apps/bench/checkpoints.hpp"

#include "actors/report/text_table.hpp"
#include "actors/session/session.hpp"
#include "apps/bench/scratch_folder.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/workload.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

report run(const workload& w, const session_options& options) {
  session s{options};
  assemble(s, w);
  report r = s.run();
  if (!r.all_finished()) throw fault_error{fault_code::internal, "a model has failed"};
  return r;
}

session_options plain(const workload& w) {
  session_options o = w.options;
  o.log = verbosity::quiet;
  o.output.clear();
  return o;
}

report run_saved(const workload& w, const checkpoints_bench_options& o, checkpoints_result& result) {
  const scratch_folder folder{o.folder};
  session_options options = plain(w);
  options.output = o.folder;
  options.checkpoint.every_minutes = o.every_minutes;
  report r = run(w, options);
  result.saved.values.push_back(r.checkpoints);
  result.bytes = folder.bytes();
  return r;
}

void check_equal(const report& a, const report& b) {
  for (std::size_t i = 0; i < a.models.size(); ++i)
    if (a.models[i].digest != b.models[i].digest)
      throw fault_error{fault_code::internal, a.models[i].name + ": checkpoints have changed its parameters"};
}

}  // namespace

checkpoints_result measure_checkpoints(const checkpoints_bench_options& o) {
  const workload w = read_workload(o.workload);
  checkpoints_result result;
  for (int i = 0; i < o.repeats; ++i) {
    report with, without;
    if (i % 2 == 0) with = run_saved(w, o, result);
    without = run(w, plain(w));
    if (i % 2 == 1) with = run_saved(w, o, result);
    check_equal(with, without);
    result.with.values.push_back(seconds(with.makespan));
    result.without.values.push_back(seconds(without.makespan));
    result.ratio.values.push_back(seconds(with.makespan) / seconds(without.makespan));
  }
  return result;
}

std::string to_table(const checkpoints_result& r) {
  text_table t{{{"checkpoints"}, {"makespan s median [min..max]", alignment::right}}};
  t.add({"off", to_string(r.without)});
  t.add({"on", to_string(r.with)});
  return fmt::format("{:.0f} checkpoints in a run, {} kept; the same parameters, bit for bit\n\n", r.saved.median(),
                     to_string(byte_count{static_cast<std::uint64_t>(r.bytes)})) +
         t.to_string() + fmt::format("\non / off, pair by pair: {}\n", to_string(r.ratio));
}

std::string to_json(const checkpoints_result& r, const machine_description& on) {
  using json = nlohmann::ordered_json;
  const json j{{"name", "checkpoints"},
               {"processor", on.processor},
               {"cores_used", on.cores_used},
               {"digests_equal", true},
               {"checkpoints", r.saved.median()},
               {"kept_bytes", r.bytes},
               {"off_s", json_of(r.without)},
               {"on_s", json_of(r.with)},
               {"on_over_off", json_of(r.ratio)}};
  return json_text(j, 2) + "\n";
}

}  // namespace hydra::apps
