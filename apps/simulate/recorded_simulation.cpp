#include "apps/simulate/recorded_simulation.hpp"

#include "actors/admission/prediction.hpp"
#include "actors/policy/one_at_a_time.hpp"
#include "actors/simulation/predict.hpp"
#include "actors/simulation/planned_instance.hpp"
#include "actors/simulation/recorded_times.hpp"
#include "apps/run_folder/recorded_run.hpp"
#include "apps/run_folder/recorded_trace.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/simulate/recorded_policy.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/run_keys.hpp"
#include "partition/plan/plan_file.hpp"
#include "partition/plan/plan_outline.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// A model's evaluations in the trace: after which steps, of how many micro-batches.
struct seen_evaluations {
  std::set<std::uint32_t> after;
  std::uint32_t micro_batches = 0;
};

/// The content of a trace: read span by span, because all spans may not fit in memory.
struct seen_spans {
  std::shared_ptr<recorded_times> times = std::make_shared<recorded_times>();
  std::map<std::string, duration> copying{};                   ///< by device
  std::vector<std::pair<time_point, int>> updates_at_once{};   ///< changes
  std::map<std::string, seen_evaluations, std::less<>> evaluations{};
};

/// The content of a run folder.
struct recording {
  fs::path folder;
  report summary;
  seen_spans seen{};
  workload_plan plan{};
  ablation_options ablation{};
};

// -- reading ----------------------------------------------------------------------------------------------------------

/// Only runs that are recorded from their start to their end can be simulated.
void check_complete(const fs::path& folder, const report& r) {
  if (r.interrupted) refuse(folder, "the run was interrupted; only complete runs can be simulated");
  for (const device_report& d : r.devices)
    if (d.lost) refuse(folder, fmt::format("the run lost device {}; only complete runs can be simulated", d.name));
  for (const model_report& m : r.models) {
    if (m.status != model_status::finished)
      refuse(folder, fmt::format("model {} is {}; only runs whose models have all finished can be simulated", m.name,
                                 status_text(m)));
    if (m.steps_before > 0)
      refuse(folder, fmt::format("the run was resumed (model {} after step {}); its trace has only the last part",
                                     m.name, m.steps_before));
  }
}

/// Read from workload.toml of the run folder; without that file, nothing is switched off.
ablation_options read_ablation_of(const fs::path& folder) {
  std::error_code ignored;
  const fs::path file = folder / workload_file;
  if (!fs::exists(file, ignored)) return {};
  return read_session_options(parse_toml(read_text(file, text_kind::settings), file.string()), "run").ablation;
}

// -- durations --------------------------------------------------------------------------------------------------------

void add_update(seen_spans& seen, const span& s) {
  seen.times->add_update(s);
  if (s.begin == s.end) return;
  seen.updates_at_once.emplace_back(s.begin, 1);
  seen.updates_at_once.emplace_back(s.end, -1);
}

void add_evaluation(seen_spans& seen, const span& s) {
  const auto label = s.name == "execute_shard" ? parse_label(s.detail) : std::nullopt;
  if (!label || label->way != "evaluate") return;
  auto& model = seen.evaluations[std::string{label->model}];
  model.after.insert(label->step);
  model.micro_batches = std::max(model.micro_batches, label->micro_batch + 1);
}

void add_span(seen_spans& seen, const report& summary, const span& s) {
  if (s.track == "host optimizer") return add_update(seen, s);
  add_evaluation(seen, s);
  for (const device_report& d : summary.devices)
    if (const auto queue = queue_of_track(s.track, d.name)) {
      seen.times->add(*queue, d.name, d.speed, s);
      if (*queue != queue_kind::compute) seen.copying[d.name] += s.end - s.begin;
    }
}

recording read_recording(const fs::path& run) {
  const fs::path above = run.filename() == "trace.json" ? run.parent_path() : run;
  const fs::path folder = above.empty() ? fs::path{"."} : above;
  recording r{.folder = folder, .summary = read_report(folder).summary};
  if (!r.summary.cluster.nodes.empty())
    refuse(folder, "it is the run of a cluster: only its workload can be simulated, by hydra simulate W.toml --nodes");
  check_complete(folder, r.summary);
  const auto dropped = read_spans(folder / "trace.json", [&](const span& s) { add_span(r.seen, r.summary, s); });
  if (dropped > 0)
    refuse(folder, fmt::format("its trace is without the first {} spans, too many to keep; simulate a shorter run "
                                   "(fewer steps)", dropped));
  r.plan = parse_costs(read_text(folder / "plan.json", text_kind::plan), (folder / "plan.json").string());
  r.ablation = read_ablation_of(folder);
  if (r.plan.models.size() != r.summary.models.size())
    refuse(folder,
               fmt::format("plan.json has {} models, report.json {}", r.plan.models.size(), r.summary.models.size()));
  return r;
}

/// Mean rate of all copies of a device; their latency is part of it.
byte_rate rate_of(const recording& r, const device_report& d) {
  const auto copying = r.seen.copying.find(d.name);
  const duration busy = copying == r.seen.copying.end() ? duration{} : copying->second;
  const auto bytes = static_cast<double>((d.h2d_bytes + d.d2h_bytes).value());
  return busy > duration::zero() ? byte_rate{bytes / seconds(busy)} : byte_rate{};
}

run_terms terms_of(const report& r) {
  run_terms terms{.host = r.host_terms};
  for (const device_report& d : r.devices) terms.devices.push_back(d.terms);
  return terms;
}

std::vector<device_info> devices_of(const recording& r) {
  std::vector<device_info> devices;
  for (const device_report& d : r.summary.devices)
    devices.push_back({.name = d.name,
                       .kind = d.kind,
                       .speed = d.speed,
                       .memory = d.budget,
                       .reserve = d.reserve,
                       .link = rate_of(r, d)});
  return devices;
}

/// The largest number of updates that ran at the same time.
int optimizer_workers(std::vector<std::pair<time_point, int>> changes) {
  std::ranges::sort(changes);  // at one instant, ends come first
  int most = 1, now = 0;
  for (const auto& [when, change] : changes) most = std::max(most, now += change);
  return most;
}

// -- models -----------------------------------------------------------------------------------------------------------

void set_evaluations(sharded_model& m, const seen_evaluations& seen) {
  constexpr std::uint32_t longest_visit = 256;
  const std::uint32_t visited = m.plan.shape().lane_size();
  m.plan.evaluation = {.micro_batches = seen.micro_batches, .round = std::min(visited * 4, longest_visit)};
  const std::uint32_t first = *seen.after.begin();
  if (first > 0 && first < m.steps) m.evaluate_every = first;
}

schedule_terms terms_of(const model_report& m) {
  return {.priority = m.priority, .deadline = m.deadline, .arrival = m.arrival};
}

std::shared_ptr<sharded_model> model_of(const recording& r, std::size_t i) {
  const model_report& said = r.summary.models[i];
  auto m = std::make_shared<sharded_model>();
  m->name = said.name;
  m->plan = r.plan.models[i];
  m->steps = said.steps;
  m->terms = terms_of(said);
  m->update.clip_norm = said.grad_norm.empty() ? 0 : 1;
  if (const auto seen = r.seen.evaluations.find(m->name); seen != r.seen.evaluations.end())
    set_evaluations(*m, seen->second);
  m->graphs = graphs_of(m->plan);
  set_times(m->plan, *r.seen.times);  // policies are given the means
  return m;
}

/// Their remaining work is given to policies in wall time, as in the run.
std::vector<sharded_model_ptr> models_of(const recording& r, const std::vector<device_info>& devices) {
  std::vector<std::shared_ptr<sharded_model>> models;
  for (std::size_t i = 0; i < r.summary.models.size(); ++i) models.push_back(model_of(r, i));
  const std::vector<sharded_model_ptr> measured{models.begin(), models.end()};
  const std::vector<double> scales = remaining_scales(measured, devices);
  for (std::size_t i = 0; i < models.size(); ++i) models[i]->remaining_scale = scales[i];
  return {models.begin(), models.end()};
}

// -- the simulation ---------------------------------------------------------------------------------------------------

std::unique_ptr<policy> policy_of(const recording& r, const listed_policy& p, std::uint64_t seed) {
  if (r.ablation.sharp) return p.make(seed);
  return std::make_unique<one_at_a_time>(p.make(seed));
}

/// Each simulation consumes the recorded times, so they are rewound first.
forecast simulate_with(const recording& r, const std::vector<sharded_model_ptr>& models, const listed_policy& p,
                       std::uint64_t seed) {
  r.seen.times->rewind();
  auto chosen = policy_of(r, p, seed);
  pipeline_options pipeline = pipeline_of(r.plan, r.ablation);
  pipeline.slots = slots_for(*chosen, pipeline.slots);
  return predict({.devices = devices_of(r),
                  .models = models,
                  .chosen = std::move(chosen),
                  .pipeline = pipeline,
                  .optimizer_workers = optimizer_workers(r.seen.updates_at_once),
                  .most_units = std::numeric_limits<std::uint64_t>::max(),
                  .recorded = r.seen.times});
}

/// In its last part, the one that is simulated.
expense spent_here(const report& r) {
  expense all = r.host_spent;
  for (const device_report& d : r.devices) all = all + d.spent;
  return all;
}

/// Why the run ended with another policy than it started with.
std::vector<std::string> replacement_notes(const report& r) {
  if (r.replaced == 0) return {};
  const auto why = std::ranges::find_if(
      r.notes, [](const std::string& note) { return note.find(" was replaced by ") != std::string::npos; });
  return {fmt::format("during the run, the run's {}",
                      why == r.notes.end() ? "policy was replaced by sharded-lrtf" : *why)};
}

/// The policy that the run started with, unless others are asked for.
struct chosen_policies {
  std::vector<listed_policy> all;
  std::string ran;
  std::uint64_t seed = 0;
};

chosen_policies choose(const recording& r, const recorded_choice& wanted, policy_registry& registry) {
  if (wanted.policies.empty()) {
    recorded_policy own = policy_of_run(r.folder, r.summary, registry);
    return {{own.policy}, own.policy.name, wanted.seed.value_or(own.seed)};
  }
  const std::string reported = r.summary.policy.substr(0, r.summary.policy.find(", "));
  return {wanted.policies, reported, wanted.seed.value_or(r.summary.seed)};
}

}  // namespace

comparison simulate_recorded(const fs::path& run, const recorded_choice& wanted, policy_registry& registry) {
  const recording r = read_recording(run);
  const chosen_policies chosen = choose(r, wanted, registry);
  comparison c{
      .name = r.summary.name,
      .heading = fmt::format("{}: {}, {}; the run of {}, simulated with the times it recorded",
                             r.summary.name, counted(r.summary.models.size(), "model"),
                             counted(r.summary.devices.size(), "device"), r.summary.policy),
      .limits = r.summary.limits.all(),
      .rows = {},
      .ran = chosen.ran,
      .measured = r.summary.makespan,
      .measured_spent = spent_here(r.summary),
      .currency = r.summary.currency,
      .notes = replacement_notes(r.summary)};
  const std::vector<sharded_model_ptr> models = models_of(r, devices_of(r));
  for (const listed_policy& p : chosen.all) {
    const forecast f = simulate_with(r, models, p, chosen.seed);
    c.rows.push_back(row_of(p.name, f));
    c.rows.back().spent = expenses_of(f.work, terms_of(r.summary)).all;
  }
  return c;
}

}  // namespace hydra::apps
