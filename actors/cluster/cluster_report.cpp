#include "actors/cluster/cluster_record.hpp"

#include "actors/cluster/cluster_expenses.hpp"
#include "actors/report/report_builder.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace hydra {

namespace {

model_status status_of(const cluster_model_record& m) {
  switch (m.end) {
    case model_phase::finished:
      return model_status::finished;
    case model_phase::stopped:
      return model_status::stopped;
    case model_phase::failed:
      return model_status::failed;
    default:
      return model_status::interrupted;
  }
}

/// What the nodes know and the checkpoint does not: sizes, cuts, tokens, floors. From the last one that has a report.
model_report known_by_nodes(const cluster_record& record, const std::string& model) {
  model_report known;
  for (const auto& n : record.nodes) {
    if (!n.summary) {
      continue;
    }
    const auto found = std::ranges::find(n.summary->models, model, &model_report::name);
    if (found != n.summary->models.end() && found->steps >= known.steps) {
      known = *found;
    }
  }
  return known;
}

void add_history(model_report& r, const std::filesystem::path& checkpoints) try {
  const auto all = states_to_continue(checkpoints);
  if (all.empty()) {
    return;
  }
  const auto saved = read_checkpoint(all.front());
  r.loss = saved.standing.history.losses;
  r.grad_norm = saved.standing.history.grad_norms;
  auto known = std::exchange(r.validation, {});
  for (const auto& e : saved.standing.history.evaluations) {
    const auto same = std::ranges::find(known, e.steps, &validation_report::step);
    validation_report v = same == known.end() ? validation_report{} : *same;
    v.step = e.steps;
    v.loss = e.loss;
    v.accuracy = e.accuracy;
    r.validation.push_back(v);
  }
} catch (const fault_error& e) {
  r.error = r.error ? r.error : e.what_happened();
}

model_report report_of(const cluster_record& record, const cluster_model_record& m,
                       const std::filesystem::path& folder) {
  auto r = known_by_nodes(record, m.name);
  r.name = m.name;
  r.status = status_of(m);
  r.error = m.why;
  r.steps = m.steps;
  r.steps_before = std::min(m.steps, m.before);
  r.digest = m.digest;
  r.replicas = m.replicas;
  r.spent = {};
  r.unsaved = false;  // of a node whose disk was full: it was trained elsewhere then
  if (m.began && m.completed) {
    r.elapsed = *m.completed - *m.began;
  }
  r.completed = m.completed && record.began ? std::optional(*m.completed - *record.began) : std::nullopt;
  add_history(r, checkpoints_of(folder / "checkpoints", m.name));
  return r;
}

/// Of a node that was lost only what it has said last is known.
std::vector<device_report> devices_of(const cluster_node_record& n, duration makespan) {
  std::vector<device_report> all;
  for (std::size_t i = 0; i < n.devices.size(); ++i) {
    device_report d;
    if (n.summary && i < n.summary->devices.size()) {
      d = n.summary->devices[i];
    } else {
      d.kind = n.devices[i].kind;
      d.speed = n.devices[i].speed;
      d.lost = n.lost;
      d.reason = n.lost ? "node " + n.name + " was lost" : "";
      if (i < n.last.devices.size()) {
        d.busy = from_seconds(n.last.devices[i].busy * seconds(n.last.elapsed));
        d.time.compute = d.busy;
        d.peak = n.last.devices[i].peak;
        d.budget = n.last.devices[i].budget;
      }
    }
    d.name = n.name + "/" + n.devices[i].name;
    duration known{};
    for (const auto& part : breakdown_parts) {
      known += d.time.*part.value;
    }
    d.time.no_unit += std::max(makespan - known, duration{});  // it was not there, or had no model
    all.push_back(std::move(d));
  }
  return all;
}

/// With all devices from the start, at the smallest times of the steps: no schedule is shorter.
bounds limits_of(const cluster_record& record) {
  std::vector<double> speeds;
  std::map<std::string, const cluster_node_record*> nodes;  // one that has joined again counts once
  for (const auto& n : record.nodes) {
    nodes[n.name] = &n;
  }
  for (const auto& [name, n] : nodes) {
    for (const auto& d : n->devices) {
      speeds.push_back(d.speed);
    }
  }
  std::vector<unit_times> models;
  duration chain{};
  const double fastest = speeds.empty() ? 1 : *std::ranges::max_element(speeds);
  for (const auto& m : record.models) {
    const auto steps = m.steps - std::min(m.steps, m.before);
    models.push_back({.backward = {m.step_work / m.lanes}, .steps = steps, .replicas = m.lanes});
    chain = std::max(chain, from_seconds(seconds(m.step_chain) * steps / fastest));
  }
  if (speeds.empty()) {
    return {};
  }
  auto limits = lower_bounds(models, {.speeds = speeds});
  limits.chain = chain;
  limits.h2d = limits.d2h = limits.optimizer = {};
  return limits;
}

node_report report_of(const cluster_record& record, const cluster_node_record& n) {
  node_report r{.name = n.name, .devices = static_cast<std::uint32_t>(n.devices.size()), .outcome = n.why.text};
  const auto start = record.began.value_or(n.joined);
  r.joined = std::max(n.joined - start, duration{});
  r.used = n.used ? std::optional(*n.used - std::max(n.joined, start)) : std::nullopt;
  for (const auto& m : record.models) {
    r.models += std::ranges::count(m.nodes, n.name) > 0 ? 1 : 0;
  }
  r.exchanged = n.last.exchanged;
  r.exchanging = n.last.exchanging;
  r.failures = n.failures;
  if (r.outcome.empty()) {
    r.outcome = n.lost ? "lost" : n.left && *n.left < record.ended ? "left" : "";
  }
  return r;
}

/// "node a", "nodes a, b".
std::string text_of(const std::vector<std::string>& nodes) {
  return fmt::format("{} {}", nodes.size() == 1 ? "node" : "nodes", fmt::join(nodes, ", "));
}

void add_expenses(report& r, const cluster_record& record) {
  add_spent(r, record.before, expenses_of(record));
  r.currency = currency_of(record);
  std::vector<std::string> silent, free;
  for (const auto& n : record.nodes) {
    if (!n.summary) {
      silent.push_back(n.name);
      continue;
    }
    if (!n.summary->spent.cost) {
      free.push_back(n.name);
    }
    r.host_spent = r.host_spent + n.summary->host_spent;
    r.host_energy_source = r.host_energy_source.empty() ? n.summary->host_energy_source : r.host_energy_source;
    r.grams_per_kwh = n.summary->grams_per_kwh;
  }
  if ((r.spent.cost || r.spent.joules) && !silent.empty()) {
    r.notes.push_back(fmt::format("cost and energy of {} are what was said last: no report came from there at the end",
                                  text_of(silent)));
  }
  if (r.spent.cost && !free.empty()) {
    r.notes.push_back(fmt::format("the cost is without {}: devices there have no price", text_of(free)));
  }
}

}  // namespace

report build_cluster_report(const cluster_record& record, const std::filesystem::path& folder) {
  report r;
  r.policy = "longest model first on nodes, then the policy of the workload on each";
  r.makespan = record.began ? record.ended - *record.began : duration{};
  r.interrupted = record.interrupted;
  r.cluster.moves = record.moves;
  r.cluster.moved = record.moved;
  r.limits = limits_of(record);
  for (const auto& m : record.models) {
    r.models.push_back(report_of(record, m, folder));
    r.cluster.transit += m.transit;
    r.cluster.redone += m.redone;
  }
  for (const auto& n : record.nodes) {
    auto devices = devices_of(n, r.makespan);
    std::ranges::move(devices, std::back_inserter(r.devices));
    r.cluster.nodes.push_back(report_of(record, n));
    r.host_budget += n.last.host_budget;
    r.host_peak += n.last.host_peak;
  }
  add_expenses(r, record);
  r.notes.insert(r.notes.end(), record.notes.begin(), record.notes.end());
  return r;
}

}  // namespace hydra
