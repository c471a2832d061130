#include "apps/commands/commands.hpp"

#include "actors/simulation/instance_file.hpp"
#include "actors/simulation/solo_run.hpp"
#include "apps/commands/shared_options.hpp"
#include "apps/commands/written_file.hpp"
#include "apps/simulate/instance_runs.hpp"
#include "apps/simulate/policy_list.hpp"
#include "apps/simulate/recipe_keys.hpp"
#include "apps/simulate/recorded_simulation.hpp"
#include "apps/simulate/workload_runs.hpp"
#include "apps/workload/node_session.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

struct simulate_options {
  std::string input;
  std::string recipe;
  std::string policies;
  std::string driver;
  std::string completion;
  std::optional<std::string> nodes;
  std::optional<std::string> link;
  std::optional<std::string> plan;
  std::optional<std::string> save;
  std::vector<std::string> plugins;
  std::vector<std::string> set;
  std::optional<std::uint64_t> seed;
  bool json = false;
};

enum class input_kind { workload, instance, recipe, run };

bool ends_with(const fs::path& file, const char* extension) { return file.extension() == extension; }

input_kind input_kind_of(const simulate_options& o) {
  if (o.input.empty() == o.recipe.empty()) refuse("either a file (workload, instance, run) or --generate is expected");
  if (!o.recipe.empty()) return input_kind::recipe;
  std::error_code ignored;
  if (fs::is_directory(o.input, ignored) || fs::path{o.input}.filename() == "trace.json") return input_kind::run;
  return ends_with(o.input, ".toml") ? input_kind::workload : input_kind::instance;
}

driver_options driver_of(const simulate_options& o) {
  driver_options d{.seed = o.seed.value_or(0)};
  if (!o.driver.empty()) d.driver = parse_driver(o.driver);
  if (!o.completion.empty()) d.completion = parse_completion(o.completion);
  check(d);
  return d;
}

/// Refuses options that are only for other inputs.
void check_input(const simulate_options& o, input_kind kind) {
  const bool generated = kind == input_kind::recipe || kind == input_kind::instance;
  if (kind != input_kind::workload && (o.plan || !o.set.empty()))
    refuse("--plan and --set change a workload file (W.toml), and something else is simulated");
  if (!generated && driver_of(o).driver == simulation_driver::loop)
    refuse("--driver loop runs instances; workloads and runs are simulated by their actors");
  if (kind != input_kind::workload && o.nodes)
    refuse("--nodes predicts a run of a workload file (W.toml), and something else is simulated");
  if (!o.nodes && o.link) refuse("--link is the network between --nodes, and there are none");
  if (!generated && o.save) refuse("--save writes an instance, and something else is simulated");
}

place option(const char* name) { return {std::make_shared<std::string>(name), 0}; }

value seed_value(std::uint64_t seed) {
  return {option("--seed"), std::to_string(seed), static_cast<std::int64_t>(seed)};
}

std::vector<key_override> overrides_of(const simulate_options& o) {
  std::vector<key_override> all = parse_overrides(o.set, o.plugins);
  if (o.plan) all.push_back({"model.cuts", text_value(*o.plan, option("--plan"))});
  if (o.seed) all.push_back({"run.seed", seed_value(*o.seed)});
  return all;
}

comparison simulate_instance(const simulate_options& o, const schedule_instance& instance,
                             const std::vector<listed_policy>& policies) {
  if (o.save) write_atomically(*o.save, to_json(instance));
  return compare(instance, policies, driver_of(o), yardstick_of(instance).best());
}

comparison simulate_run(const simulate_options& o, std::vector<listed_policy> policies, policy_registry& registry) {
  if (o.policies.empty()) policies.clear();
  return simulate_recorded(o.input, {std::move(policies), o.seed}, registry);
}

byte_rate parse_link(const std::string& text) try {
  const byte_rate rate = parse_rate(text);
  if (!rate.limited()) refuse("0 is not a rate");
  return rate;
} catch (const fault_error& e) {
  refuse(fmt::format("--link: {}; such as 125MB/s for a network of 1 Gbit/s", e.what()));
}

simulated_nodes nodes_of(const simulate_options& o) {
  if (!o.nodes) return {};
  simulated_nodes nodes{.speeds = parse_speeds(*o.nodes), .network = {.latency = std::chrono::milliseconds(1)}};
  if (o.link) nodes.network.node = parse_link(*o.link);
  return nodes;
}

comparison simulate_file(const simulate_options& o, const std::vector<listed_policy>& policies) {
  const simulated_nodes nodes = nodes_of(o);
  const workload w = read_workload(o.input, overrides_of(o));
  if (!nodes.speeds.empty()) check_for_cluster(w);
  return simulate_workload(w, policies, nodes);
}

comparison simulate_input(const simulate_options& o, input_kind kind, policy_registry& registry) {
  const std::vector<listed_policy> policies = parse_policies(o.policies, registry);
  const bool is_instance = kind == input_kind::recipe || kind == input_kind::instance;
  if (!is_instance && std::ranges::any_of(policies, &listed_policy::is_optimum))
    refuse("exact searches small instances (--generate, or I.json), and something else is simulated");
  switch (kind) {
    case input_kind::workload:
      return simulate_file(o, policies);
    case input_kind::instance:
      return simulate_instance(o, load_instance(o.input), policies);
    case input_kind::recipe:
      return simulate_instance(o, generate_at(parse_recipe(o.recipe), option("--generate"), o.recipe), policies);
    case input_kind::run:
      break;
  }
  return simulate_run(o, policies, registry);
}

int simulate(const simulate_options& o) {
  const input_kind kind = input_kind_of(o);
  check_input(o, kind);
  driver_of(o);
  if (o.save) check_written_file("--save", *o.save);
  policy_registry registry;
  for (const std::string& file : o.plugins) registry.load(file);
  const comparison c = simulate_input(o, kind, registry);
  fmt::print("{}", o.json ? to_json(c) : printable(to_table(c)));
  return 0;
}

}  // namespace

command_action declare_simulate(command_line& line) {
  auto o = std::make_shared<simulate_options>();
  line.add_option("input", o->input,
                 "workload file (W.toml), scheduling instance (I.json), or a run's folder or trace.json, which is "
                 "simulated with the times it has recorded");
  line.add_option("--generate", o->recipe,
                 "a random instance instead: equal, hetero, skewed or paper, then keys: "
                 "hetero:models=12,devices=8,rho=0.5,slots=3,seed=1 (apps/studies/README.md lists them)");
  line.add_option(
      "--policies", o->policies,
      "a,b,... or all; options in parentheses: band-hold(critical_units=2); exact: the optimum of an instance of few "
      "units, with --driver loop; default: all that choose without chance, for a run its own");
  add_plugin_option(line, o->plugins);
  line.add_option("--driver", o->driver,
                 "actors (those of a run in virtual time, default) or loop (fast; instances only)");
  line.add_option("--completion", o->completion,
                 "of the loop: ended (a unit is complete when it has computed, default) or landed (when its outputs "
                 "are written back to the host, as for the actors)");
  line.add_option(
      "--nodes", o->nodes,
      "of a workload: also the run of a cluster with nodes of these speeds, over the devices of the workload: "
      "1,1,0.5; each has as many devices");
  line.add_option(
      "--link", o->link,
      "rate of each of these nodes' network, each way: 125MB/s, with 1 ms of latency (default: not limited)");
  line.add_option("--plan", o->plan, "saved plan of the workload: its cuts and profiles, no pilot");
  line.add_option("--seed", o->seed,
                  "of policies that choose by chance (default: the seed of the workload or run, else 0)");
  line.add_option("--save", o->save, "file for the instance (JSON), must not exist");
  add_set_option(line, o->set);
  line.add_flag("--json", o->json, "JSON on stdout instead of a table");
  return [o] { return simulate(*o); };
}

}  // namespace hydra::apps
