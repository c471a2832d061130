#include "actors/report/report_builder.hpp"

#include "actors/policy/bounds.hpp"
#include "actors/report/run_metrics.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

model_status status_of(const model_outcome& out) {
  if (out.paused) {
    return model_status::paused;
  }
  if (out.why.code == fault_code::interrupted) {
    return model_status::interrupted;
  }
  if (out.why || !out.ended) {
    return model_status::failed;
  }
  return out.stopped ? model_status::stopped : model_status::finished;
}

/// Perplexity is for models of sequences; the floor of the data's source is in nats of cross entropy.
std::vector<validation_report> validations_of(const model_outcome& out, const model_facts& m) {
  std::vector<validation_report> all;
  for (const auto& e : out.history.evaluations) {
    validation_report v{.step = e.steps, .loss = e.loss, .accuracy = e.accuracy};
    v.perplexity = m.has_perplexity ? std::optional(std::exp(e.loss)) : std::nullopt;
    v.floor = m.floor ? std::optional(m.floor->log_loss) : std::nullopt;
    v.entropy = m.floor ? std::optional(m.floor->entropy) : std::nullopt;
    all.push_back(v);
  }
  return all;
}

void add_terms(model_report& r, const model_outcome& out, const schedule_terms& terms, time_point run_began) {
  r.priority = terms.priority;
  r.arrival = out.arrival;
  r.deadline = terms.deadline;
  const bool complete = r.status == model_status::finished || r.status == model_status::stopped;
  if (complete && out.last_update) {
    r.completed = *out.last_update - run_began;
  }
}

model_report report_of(const model_outcome& out, const model_entry& m, const run_record& run) {
  model_report r;
  r.name = m.what->name;
  r.family = m.facts.family;
  r.parameters = m.facts.parameters;
  r.frozen_parameters = m.facts.frozen_parameters;
  r.cuts = m.what->plan.cuts();
  r.replicas = m.what->plan.replicas;
  r.waves = m.what->plan.waves;
  r.pieces = m.what->plan.pieces;
  r.side_by_side = !m.what->plan.groups.empty();
  r.pipeline = out.pipeline;
  r.status = status_of(out);
  r.error = out.ended ? out.why : run.aborted;
  r.steps = out.steps;
  r.steps_before = std::min(out.steps_before, out.steps);
  r.tokens = trained_tokens(m.facts.tokens).after(out.steps, *m.what);
  if (out.first_completion && out.last_update) {
    r.elapsed = *out.last_update - *out.first_completion;
  }
  r.loss = out.history.losses;
  r.grad_norm = out.history.grad_norms;
  r.validation = validations_of(out, m.facts);
  add_terms(r, out, m.what->terms, run.began);
  return r;
}

device_report report_of(const device_outcome& out, const device_snapshot& machine) {
  const auto& info = machine.info;
  const auto& c = out.counters;
  device_report r;
  r.name = info.name;
  r.kind = info.kind;
  r.model = info.model;
  r.numbers = info.numbers;
  r.speed = info.speed;
  r.busy = c.busy;
  r.exposed_transfer = c.exposed_transfer;
  r.h2d_bytes = c.h2d_bytes;
  r.d2h_bytes = c.d2h_bytes;
  r.cache_hits = c.hits;
  r.cache_misses = c.misses;
  r.saved = c.saved;
  r.recomputed = c.recomputed;
  r.peak = machine.memory.peak;
  r.budget = info.memory;
  r.reserve = info.reserve;
  r.time = out.time;
  r.lost = out.lost;
  r.reason = out.reason;
  return r;
}

void add_bounds(report& r, const run_record& record) {
  std::vector<unit_times> smallest, usual;
  for (const auto& m : record.models) {
    smallest.push_back(m.smallest);
    usual.push_back(m.usual);
  }
  resources machines{.speeds = {}, .optimizer_workers = record.optimizer_workers};
  machines.memory = {};
  for (const auto& d : r.devices) {
    machines.speeds.push_back(d.speed);
    machines.memory += d.budget - d.reserve;
  }
  r.limits = lower_bounds(smallest, machines);
  r.usual = lower_bounds(usual, machines);
}

/// For a model that was released it was computed at its release.
std::string digest_of(const finished_run& run, std::size_t model) {
  const auto& taken = run.record->models[model].digest;
  const auto id = model_id{static_cast<std::uint32_t>(model)};
  const auto kept = run.parameters->of(id);
  return taken.empty() && !kept.empty() ? digest_of(*run.models[model].what, kept) : taken;
}

void add_scheduling(report& r, const run_record& record) {
  r.policy = record.policy;
  r.decisions = record.decisions;
  r.decision_mean = record.decision_mean;
  r.decision_p99 = record.decision_p99;
  r.decision_wait = record.decision_wait;
  r.replaced = static_cast<std::uint32_t>(record.replacements.size());
  r.notes = record.replacements;
  if (record.dropped_advice > 0) {
    r.notes.push_back(fmt::format("the policy actor chose {} a unit that was not a candidate; it was asked again",
                                  counted(record.dropped_advice, "time")));
  }
}

void add_models(report& r, const finished_run& run) {
  for (std::size_t i = 0; i < run.models.size(); ++i) {
    auto& m = r.models.emplace_back(report_of(run.record->models[i], run.models[i], *run.record));
    if (m.status == model_status::finished || m.status == model_status::stopped) {
      m.digest = digest_of(run, i);  // the memory of other models depends on when they ended
    }
  }
  const auto goes_on = [](const model_report& m) {
    return m.status == model_status::interrupted || m.status == model_status::paused;
  };
  r.interrupted = std::ranges::any_of(r.models, goes_on);
}

void add_unsaved(report& r, const finished_run& run) {
  for (std::size_t i = 0; i < run.models.size(); ++i) {
    if (const auto& why = run.record->models[i].unsaved) {
      ++r.unsaved;
      r.models[i].unsaved = true;
      r.notes.push_back(fmt::format("{} could not be saved at its end: {}", run.models[i].what->name, why.text));
    }
  }
}

void add_callbacks(report& r, const run_record& record) {
  auto all = record.callbacks_failed;
  if (const auto& why = record.callbacks_lost; !why.empty()) {
    all.push_back(why + ": no callback was called any more, so nothing stopped a model early or added one");
  }
  r.callbacks_lost = fmt::format("{}", fmt::join(all, "; "));
  std::ranges::move(all, std::back_inserter(r.notes));
}

std::string source_of(const std::optional<energy_reading>& measured, const expense& e) {
  return measured ? measured->meter : e.joules ? "stated" : "";
}

void add_expenses(report& r, const run_record& record, const run_terms& terms, const shared_expense& before) {
  const auto& spent = record.spent;
  const auto& work = record.work;
  std::vector<std::string> names;
  std::ranges::transform(r.models, std::back_inserter(names), &model_report::name);
  add_spent(r, before, by_name(spent, names));
  r.host_spent = spent.host;
  r.host_energy_source = source_of(work.host, spent.host);
  r.host_terms = terms.host;
  r.currency = terms.currency;
  r.grams_per_kwh = terms.grams_per_kwh;
  for (std::size_t i = 0; i < spent.devices.size(); ++i) {
    r.devices[i].terms = terms.of(i);
    r.devices[i].spent = spent.devices[i];
    r.devices[i].energy_source = source_of(work.devices[i].measured, spent.devices[i]);
  }
}

/// What ended early or did not happen.
void add_notes(report& r, const run_record& record) {
  add_callbacks(r, record);
  r.notes.insert(r.notes.end(), record.refused_wishes.begin(), record.refused_wishes.end());
  for (const auto& d : r.devices) {
    if (d.lost) {
      r.notes.push_back(fmt::format("device {} was lost: {}", d.name, d.reason));
    }
  }
  const bool all_ended = std::ranges::all_of(record.models, &model_outcome::ended);
  if (record.aborted && all_ended && record.stuck.empty()) {  // else the models' faults report it
    r.notes.push_back(record.aborted.text);
  }
  for (const auto& m : record.refused) {
    r.notes.push_back("not added: " + m.why.text);
  }
  if (record.checkpoints.why && r.unsaved == 0) {
    r.notes.push_back("a checkpoint could not be written: " + record.checkpoints.why.text);
  }
}

}  // namespace

void add_spent(report& r, const shared_expense& before, const shared_expense& here) {
  const auto in_all = before + here;
  r.spent = in_all.all;
  r.spent_gaps = in_all.gaps;
  r.before = before.all;
  for (const auto& [model, taken] : in_all.models) {
    const auto found = std::ranges::find(r.models, model, &model_report::name);
    auto& into = found == r.models.end() ? r.gone : found->spent;
    into = into + taken;
  }
}

report build_report(const finished_run& run) {
  const auto& record = *run.record;
  report r;
  add_scheduling(r, record);
  r.optimizer_busy = record.optimizer_busy;
  if (record.first_prefetch && record.last_update) {
    r.makespan = *record.last_update - *record.first_prefetch;
  }
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    r.devices.push_back(report_of(record.devices[i], run.devices[i]));
  }
  add_models(r, run);
  add_expenses(r, record, *run.terms, run.before);
  if (record.last_update && record.saved) {
    r.save = std::max(*record.saved - *record.last_update, duration{});
  }
  r.checkpoints = record.checkpoints.saved;
  r.checkpoint_time = record.checkpoints.elapsed;
  add_unsaved(r, run);
  add_notes(r, record);
  r.host_peak = run.arena->budget().peak();
  r.host_budget = run.arena->budget().limit();
  add_bounds(r, record);
  return r;
}

}  // namespace hydra
