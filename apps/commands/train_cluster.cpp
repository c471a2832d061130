#include "apps/commands/train_cluster.hpp"

#include "actors/admission/identity.hpp"
#include "actors/cluster/cluster.hpp"
#include "apps/commands/interrupts.hpp"
#include "apps/commands/search_log.hpp"
#include "apps/run_folder/added_models.hpp"
#include "apps/run_folder/cluster_file.hpp"
#include "apps/run_folder/cluster_trace.hpp"
#include "apps/run_folder/recorded_data.hpp"
#include "apps/run_folder/recorded_search.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/run_folder/shell_word.hpp"
#include "apps/run_folder/stopped_models.hpp"
#include "apps/steering/cluster_steering.hpp"
#include "apps/steering/entrances.hpp"
#include "apps/steering/trial_copies.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/foreign_code.hpp"
#include "apps/workload/node_session.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/tell_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

using source_ptr = std::shared_ptr<const data_source>;

const source_ptr& source_of(const model_description& d) { return std::get<source_ptr>(d.data.what); }

/// In their order: what is wrong with them is said before a node joins.
std::vector<model_description> open_models(const workload& w, model_opener& opener) {
  std::vector<model_description> all;
  for (const model_entry& m : w.models) all.push_back(opener.open(m, w.models, w.search));
  return all;
}

/// Models that were added in an earlier part of the run, after those of the workload.
cluster_workload work_of(const workload& w, const std::vector<model_description>& models, bool resumed) {
  const auto before = read_cluster(w.options.output);
  const std::vector<std::string> added = names_of(read_added(w.options.output));
  const workload began = added.empty() ? w : without_models(w, added);
  cluster_workload all{.run = before ? before->run : random_number(),
                       .name = w.options.name,
                       .text = began.expanded,
                       .began_in = fs::current_path().string(),
                       .inputs = inputs_in(began.as_run),
                       .stopped = read_stopped(w.options.output),
                       .folder = fs::absolute(w.options.output),
                       .keep = w.options.checkpoint.keep,
                       .before = {.resumed = resumed, .currency = w.options.terms.currency}};
  const auto& tables = std::get<value_list>(w.as_run.find("model")->content);  // in the same order
  for (std::size_t i = 0; i < models.size(); ++i) {
    const model_description& m = models[i];
    if (std::ranges::count(added, m.name) > 0) {
      all.added.push_back(addition_of(m, tables.at(i)));
    } else {
      all.models.push_back(m.name);
      all.data.push_back(data_lines_of(*source_of(m)));
    }
  }
  return all;
}

/// Nodes would refuse it one after the other.
void check_saved(const cluster_workload& what) {
  for (std::size_t i = 0; i < what.models.size(); ++i) {
    const auto saved = list_states(checkpoints_of(what.folder / "checkpoints", what.models[i]));
    if (saved.empty()) continue;
    try {
      if (has_lines(read_checkpoint(saved.front()).identity, what.data[i])) continue;
    } catch (const fault_error&) {
      continue;  // it is damaged: there may be an older one
    }
    hydra::refuse(
        fmt::format("model '{}' cannot continue from {}: {}", what.models[i], saved.front().string(), other_data));
  }
}

cluster_options options_of(const cluster_train_options& o) {
  cluster_options c{.listen = parse_address(o.listen), .nodes = o.nodes, .progress = !o.quiet};
  if (!o.local) c.local_name.clear();
  if (o.keys) c.keys = cluster_keys::in(*o.keys);
  if (!o.quiet) c.say = tell_line;
  return c;
}

/// In quiet runs, too, as the URL of a page: the port may be any that was free.
void say_how_to_join(const cluster& c, const workload& w, const cluster_train_options& o) {
  std::string plugins;
  for (const plugin_file& p : named_plugins(w.as_run)) plugins += " --plugin " + shell_word(p.file.string());
  const std::string where = o.keys ? c.address() + " --keys " + shell_word(*o.keys)
                                   : shell_word(fs::absolute(w.options.output).lexically_normal().string());
  tell_line(fmt::format("nodes join by: hydra node{} --join {}", plugins, where));
  if (const auto others = o.nodes - (o.local ? 1 : 0); others > 0 && !o.quiet)
    tell_line("waiting for " + counted(others, "node"));
}

/// It has the plug-ins that this process was started with.
session_maker local_node(const workload& w, bool wanted) {
  if (!wanted) return nullptr;
  node_machine here;
  for (const plugin_file& p : named_plugins(w.as_run)) here.plugins.push_back(p.file.string());
  return [here](const node_accepted& what, const node_place& place) { return node_session(what, here, place); };
}

/// Trials, and after how many steps. One that had no memory then was not saved as stopped.
std::set<std::pair<std::string, std::uint32_t>> stopped_by_search(const workload& w) {
  std::set<std::pair<std::string, std::uint32_t>> all;
  if (!w.search) return all;
  for (const search_record& r : read_decisions(w.options.output))
    for (const trial_decision& d : r.decisions)
      if (d.verdict == trial_verdict::stop) all.emplace(d.trial, d.steps);
  return all;
}

}  // namespace

bool is_complete_on_cluster(const workload& w) try {
  const auto stopped = stopped_by_search(w);
  return std::ranges::all_of(w.models, [&](const model_entry& m) {
    const auto states = states_to_continue(checkpoints_of(w.options.output / "checkpoints", m.description.name));
    if (states.empty()) return false;
    const saved_model saved = read_checkpoint(states.front());
    const std::uint32_t steps = m.description.steps > 0 ? m.description.steps : saved.steps;
    const bool is_stopped = saved.standing.stopped || stopped.contains({m.description.name, saved.standing.next.step});
    return (is_stopped && saved.standing.next.begins_step()) || saved.standing.next.step >= steps;
  });
} catch (const fault_error&) {
  return false;  // a checkpoint is damaged: there may be an older one
}

report train_on_cluster(const workload& w, const cluster_train_options& o, const blocked_signals& blocked) {
  const fs::path& folder = w.options.output;
  model_opener opener{w};
  const auto models = open_models(w, opener);
  std::map<std::string, source_ptr> sources;
  for (const model_description& m : models) sources[m.name] = source_of(m);
  cluster_workload what = work_of(w, models, o.resume);
  check_saved(what);
  trial_copies copies;
  what.search = search_on_nodes(w, o.resume, copies);
  const std::uint64_t run = what.run;
  record_workload(folder, w.expanded);
  record_data(folder, sources, data_files(w));
  cluster c{std::move(what), options_of(o)};
  std::error_code ignored;
  if (o.keys && !fs::equivalent(*o.keys, keys_of_run(folder), ignored))
    fs::remove_all(keys_of_run(folder), ignored);  // of an earlier start: no node must join by them
  record_cluster(folder, {run, c.address()});
  const interrupts watch{blocked, [&c] { c.interrupt(); }};
  cluster_steering steered{c, w, opener};
  const entrances both{steered, folder, o.page};
  const copying_thread copying{copies, steered};
  say_how_to_join(c, w, o);
  report r = c.run(local_node(w, o.local));
  join_traces(folder, r);
  steered.ended(r);
  return r;
}

}  // namespace hydra::apps
