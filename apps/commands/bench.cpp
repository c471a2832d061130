#include "apps/commands/commands.hpp"

#include "apps/bench/ablation.hpp"
#include "apps/bench/collectives.hpp"
#include "apps/bench/node_scaling.hpp"
#include "apps/bench/overlap.hpp"
#include "apps/bench/scaling.hpp"
#include "apps/bench/search_scaling.hpp"
#include "apps/bench/sharing.hpp"
#include "apps/bench/spilling.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <memory>

namespace hydra::apps {

namespace {

struct bench_options {
  std::string name;
  int repeats = 3;
  std::string rows;
  bool json = false;
};

template <class Result>
void print(const Result& r, const bench_options& o) {
  const machine_description machine = this_machine();
  if (o.json)
    fmt::print("{}", to_json(o.name, machine, json_of(r)));
  else
    fmt::print("{}\n{}", to_string(machine), to_table(r));
}

using bench_run = std::function<void(const bench_options& o)>;

/// Of a benchmark without options of its own.
template <class Result, class Options>
bench_run repeated(Result (*measure)(const Options&)) {
  return [measure](const bench_options& o) { print(measure(Options{.repeats = o.repeats}), o); };
}

void run_scaling(const bench_options& o) {
  scaling_options s{.repeats = o.repeats};
  if (!o.rows.empty()) s.rows = o.rows;
  if (std::ranges::count(scaling_rows(), s.rows) == 0) refuse_unknown("--rows: unknown", s.rows, scaling_rows());
  print(measure_scaling(s), o);
}

struct bench_entry {
  std::string name;
  std::string help;
  bench_run run;
  bool has_rows = false;
};

const std::vector<bench_entry>& benches() {
  static const std::vector<bench_entry> all{
      {"overlap", "makespan / bound of 1 to 8 models on a device whose link is fast or slow",
       repeated(measure_overlap)},
      {"ablation", "makespan without double buffer, without cache, ..., over the makespan of the full system",
       repeated(measure_ablation)},
      {"spilled-vs-resident", "speed of a model on devices with little to much memory, over that in one shard",
       repeated(measure_spilling)},
      {"scaling", "speed-up of 1 to 12 models on 1 to 8 devices, of one in replicas or pieces; bubbles of pipelines",
       run_scaling, true},
      {"collectives", "volumes and times of the known ways of an all-reduce, on 2, 4 and 8 nodes",
       repeated(measure_collectives)},
      {"nodes", "speed-up of 12 models on 1 to 4 nodes of a cluster, and how soon one that joins is used",
       repeated(measure_node_scaling)},
      {"searches", "speed-up of a search by halving, with 32 trials, on 1 to 4 nodes of a cluster",
       repeated(measure_search_scaling)},
      {"sharing", "makespan / compute time of 12 adapted models on a slow link, over one base and with one each",
       repeated(measure_sharing)},
  };
  return all;
}

int bench(const bench_options& o) {
  const bench_entry& b = find_known("hydra bench: unknown benchmark", benches(), o.name, &bench_entry::name);
  if (!o.rows.empty() && !b.has_rows) refuse(fmt::format("--rows: hydra bench {} has one table", o.name));
  b.run(o);
  return 0;
}

}  // namespace

command_action declare_bench(command_line& line) {
  auto o = std::make_shared<bench_options>();
  std::string help = "which one:";
  for (const bench_entry& b : benches()) help += fmt::format("\n{}: {}", b.name, b.help);
  line.add_option("name", o->name, help).required();
  line.add_option("--repeats", o->repeats, "runs of each cell, of which the median is shown (3)")
      .within(1, 1000);
  line.add_option("--rows", o->rows, "scaling: models, replicas, pipelines, pieces or all of them (all)");
  line.add_flag("--json", o->json, "JSON instead of a table");
  return [o] { return bench(*o); };
}

}  // namespace hydra::apps
