#include "apps/simulate/recorded_simulation.hpp"

#include "actors/policy/one_at_a_time.hpp"
#include "actors/simulation/forecast.hpp"
#include "actors/simulation/recorded_times.hpp"
#include "apps/commands/run_folder.hpp"
#include "apps/report/recorded_run.hpp"
#include "apps/simulate/recorded_trace.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/run_keys.hpp"
#include "partition/plan_file.hpp"

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

/// All that a run folder says of a run.
struct recording {
  report summary;
  std::vector<span> spans{};
  workload_plan plan{};
  ablation_options ablation{};
};

[[noreturn]] void refuse_run(const fs::path& folder, const std::string& why) {
  throw fault_error{fault_code::bad_input, fmt::format("{}: {}", folder.string(), why)};
}

// -- what is read -----------------------------------------------------------------------------------------------------

/// Only what a run has done from its begin to its end can be done again.
void check_complete(const fs::path& folder, const report& r) {
  if (r.interrupted) refuse_run(folder, "the run was interrupted; only complete runs can be simulated");
  for (const device_report& d : r.devices)
    if (d.lost) refuse_run(folder, fmt::format("the run lost device {}; only complete runs can be simulated", d.name));
  for (const model_report& m : r.models) {
    if (m.status != model_status::finished)
      refuse_run(folder, fmt::format("model {} has not finished; only complete runs can be simulated", m.name));
    if (m.steps_before > 0)
      refuse_run(folder, fmt::format("the run was resumed (model {} after step {}); its trace has only the last part",
                                     m.name, m.steps_before));
  }
}

/// Of the workload as run; all parts are on where it is gone.
ablation_options read_ablation_of(const fs::path& folder) {
  std::error_code ignored;
  const fs::path file = folder / workload_file;
  if (!fs::exists(file, ignored)) return {};
  return read_session_options(parse_toml(read_text(file), file.string()), "run").ablation;
}

recording read_recording(const fs::path& run) {
  const fs::path folder = run.filename() == "trace.json" ? run.parent_path() : run;
  recording r{.summary = read_report(folder.empty() ? fs::path{"."} : folder).summary};
  check_complete(folder, r.summary);
  r.spans = read_spans(folder / "trace.json");
  r.plan = parse_costs(read_text(folder / "plan.json"), (folder / "plan.json").string());
  r.ablation = read_ablation_of(folder);
  if (r.plan.models.size() != r.summary.models.size())
    refuse_run(folder,
               fmt::format("plan.json has {} models, report.json {}", r.plan.models.size(), r.summary.models.size()));
  return r;
}

// -- what took how long -----------------------------------------------------------------------------------------------

constexpr std::pair<const char*, queue_kind> queues[]{
    {" compute", queue_kind::compute}, {" h2d", queue_kind::h2d}, {" d2h", queue_kind::d2h}};

void add_span(recorded_times& times, const report& summary, const span& s) {
  if (s.track == "host optimizer") return times.add_update(s);
  for (const device_report& d : summary.devices)
    for (const auto& [name, queue] : queues)
      if (s.track == d.name + name) times.add(queue, d.name, d.speed, s);
}

std::shared_ptr<recorded_times> times_of(const recording& r) {
  auto times = std::make_shared<recorded_times>();
  for (const span& s : r.spans) add_span(*times, r.summary, s);
  return times;
}

/// Mean rate of all copies of a device; their latency is part of it.
byte_rate rate_of(const recording& r, const device_report& d) {
  duration busy{};
  for (const span& s : r.spans)
    if (s.track == d.name + " h2d" || s.track == d.name + " d2h") busy += s.end - s.begin;
  const auto bytes = static_cast<double>((d.h2d_bytes + d.d2h_bytes).value());
  return busy > duration::zero() ? byte_rate{bytes / seconds(busy)} : byte_rate{};
}

std::vector<device_info> devices_of(const recording& r) {
  std::vector<device_info> devices;
  for (const device_report& d : r.summary.devices)
    devices.push_back(
        {.name = d.name, .kind = d.kind, .speed = d.speed, .memory = d.budget, .reserve = {}, .link = rate_of(r, d)});
  return devices;
}

/// As many as ever updated at once.
int optimizer_workers(const std::vector<span>& spans) {
  std::vector<std::pair<time_point, int>> changes;
  for (const span& s : spans)
    if (s.track == "host optimizer" && s.begin < s.end) {
      changes.emplace_back(s.begin, 1);
      changes.emplace_back(s.end, -1);
    }
  std::ranges::sort(changes);  // at one instant, ends come first
  int most = 1, now = 0;
  for (const auto& [when, change] : changes) most = std::max(most, now += change);
  return most;
}

// -- models -----------------------------------------------------------------------------------------------------------

/// What the trace shows of a model's evaluations: after which steps, of how many micro-batches.
struct seen_evaluations {
  std::set<std::uint32_t> after;
  std::uint32_t micro_batches = 0;
};

std::map<std::string, seen_evaluations, std::less<>> evaluations_in(const std::vector<span>& spans) {
  std::map<std::string, seen_evaluations, std::less<>> seen;
  for (const span& s : spans) {
    const auto label = s.name == "execute_shard" ? parse_label(s.detail) : std::nullopt;
    if (!label || label->way != "evaluate") continue;
    auto& model = seen[std::string{label->model}];
    model.after.insert(label->step);
    model.micro_batches = std::max(model.micro_batches, label->micro_batch + 1);
  }
  return seen;
}

void set_evaluations(sharded_model& m, const seen_evaluations& seen) {
  constexpr std::uint32_t longest_visit = 256;
  m.plan.evaluation = {.micro_batches = seen.micro_batches, .round = std::min(m.plan.micro_batches * 4, longest_visit)};
  const std::uint32_t first = *seen.after.begin();
  if (first > 0 && first < m.steps) m.evaluate_every = first;
}

/// Policies are told the means of what was recorded.
void set_times(sharded_model& m, const recorded_times& times) {
  for (std::uint32_t s = 0; s < m.plan.shards.size(); ++s) {
    shard_plan& p = m.plan.shards[s];
    p.forward_time = times.mean_visit(m.name, "forward", s).value_or(p.forward_time);
    p.backward_time = times.mean_visit(m.name, "backward", s).value_or(p.backward_time);
    p.update_time = times.mean_update(m.name, s).value_or(p.update_time);
  }
}

schedule_terms terms_of(const model_report& m) {
  return {.priority = m.priority, .deadline = m.deadline, .arrival = m.arrival};
}

std::vector<sharded_model_ptr> models_of(const recording& r, const recorded_times& times) {
  const auto evaluations = evaluations_in(r.spans);
  std::vector<sharded_model_ptr> models;
  for (std::size_t i = 0; i < r.summary.models.size(); ++i) {
    auto m = std::make_shared<sharded_model>();
    m->name = r.summary.models[i].name;
    m->plan = r.plan.models[i];
    m->steps = r.summary.models[i].steps;
    m->terms = terms_of(r.summary.models[i]);
    m->update.clip_norm = r.summary.models[i].grad_norm.empty() ? 0 : 1;
    if (const auto seen = evaluations.find(m->name); seen != evaluations.end()) set_evaluations(*m, seen->second);
    set_times(*m, times);
    models.push_back(std::move(m));
  }
  return models;
}

// -- the simulation ---------------------------------------------------------------------------------------------------

/// Without what the ablation adds to its name.
std::string own_policy(const recording& r) { return r.summary.policy.substr(0, r.summary.policy.find(", ")); }

std::unique_ptr<policy> policy_of(const recording& r, const listed_policy& p, std::uint64_t seed) {
  if (r.ablation.sharp) return p.make(seed);
  return std::make_unique<one_at_a_time>(p.make(seed));
}

forecast_setup setup_of(const recording& r, const listed_policy& p, std::uint64_t seed) {
  const auto times = times_of(r);  // afresh for each simulation: every recorded operation is used once
  return {.devices = devices_of(r),
          .models = models_of(r, *times),
          .chosen = policy_of(r, p, seed),
          .pipeline = {.double_buffer = r.ablation.double_buffer,
                       .cache = r.ablation.cache,
                       .copy_back_clean = r.ablation.copy_back_clean,
                       .staging_room = r.plan.staging_room},
          .optimizer_workers = optimizer_workers(r.spans),
          .most_units = std::numeric_limits<std::uint64_t>::max(),
          .recorded = times};
}

policy_row row_of(const std::string& name, const forecast& f) {
  return {.policy = name,
          .makespan = f.makespan,
          .compute_end = f.compute_end,
          .loads = f.loads,
          .hits = f.hits,
          .decisions = f.decisions};
}

}  // namespace

comparison simulate_recorded(const fs::path& run, std::vector<listed_policy> policies, std::uint64_t seed) {
  const recording r = read_recording(run);
  policy_shelf built_in;
  if (policies.empty()) policies = parse_policies(own_policy(r), built_in);
  comparison c{
      .name = r.summary.name,
      .heading = fmt::format("{}: {} models, {} devices; the run of {}, simulated with the times it recorded",
                             r.summary.name, r.summary.models.size(), r.summary.devices.size(), r.summary.policy),
      .limits = r.summary.limits.all(),
      .rows = {},
      .ran = own_policy(r),
      .measured = r.summary.makespan};
  for (const listed_policy& p : policies) c.rows.push_back(row_of(p.name, predict(setup_of(r, p, seed))));
  return c;
}

}  // namespace hydra::apps
