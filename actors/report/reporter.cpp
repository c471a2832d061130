#include "actors/report/reporter.hpp"

#include "actors/protocol/guarded.hpp"
#include "actors/report/energy_meters.hpp"
#include "actors/report/expense_account.hpp"
#include "actors/report/expense_file.hpp"
#include "actors/report/progress.hpp"
#include "actors/report/run_metrics.hpp"
#include "actors/report/unit_times_record.hpp"
#include "models/optimizer/schedule.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/executor.hpp"
#include "runtime/memory/host_arena.hpp"
#include "runtime/trace/trace.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// Shorter than a counter of a processor at work takes to start again at 0 (host_energy.hpp).
constexpr auto between_readings = std::chrono::seconds(5);

/// A step that an earlier run has started does not count for this run.
std::uint32_t steps_before(const model_standing& begins) {
  return begins.next.step + (begins.next.begins_step() ? 0 : 1);
}

model_outcome empty_outcome(const sharded_model& m, const model_standing& begins) {
  model_outcome out;
  out.steps_before = steps_before(begins);
  out.history = begins.history;
  out.arrival = m.terms.arrival;
  out.smallest = without_times(m.plan);
  return out;
}

/// REPORTER: counters and curves; passes them to the sink when it is shut down. It also detects runs without progress.
class reporter final : public reporter_actor::base {
 public:
  using super = reporter_actor::base;

  reporter(caf::actor_config& config, run_services services, reporter_setup setup)
      : super(config), services_(std::move(services)), setup_(std::move(setup)), breakdown_(setup_.devices.size()),
        account_(setup_.terms,
                 setup_.open_end ? expense_account::waiting::of_none : expense_account::waiting::of_models),
        before_(setup_.expenses ? setup_.expenses->before() : shared_expense{}) {
    for (std::uint32_t i = 0; i < setup_.models.size(); ++i) {
      record_.models.push_back(empty_outcome(*setup_.models[i], setup_.standing_before[i]));
      record_.models.back().waits = setup_.waiting.contains(model_id{i});
      times_.emplace_back(*setup_.models[i]);
    }
    record_.devices.resize(setup_.devices.size());
    record_.optimizer_workers = services_.update_executor->workers();
  }

  static constexpr const char* actor_name = "reporter";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    set_down_handler([this](const caf::down_msg&) { on_supervisor_down(); });
    monitor(setup_.supervisor);
    if (setup_.stall_limit > duration{}) {
      delayed_send(this, setup_.stall_limit, check_progress{0});
    }
    return {guarded(this, &reporter::on_begin_run),
            guarded(this, &reporter::on_model_admitted),
            guarded(this, &reporter::on_model_refused),
            guarded(this, &reporter::on_step_completed),
            guarded(this, &reporter::on_evaluation_completed),
            guarded(this, &reporter::on_shard_completed),
            guarded(this, &reporter::on_shard_updated),
            guarded(this, &reporter::on_task_ended),
            guarded(this, &reporter::on_model_released),
            guarded(this, &reporter::on_device_retired),
            guarded(this, &reporter::on_scheduler_retired),
            guarded(this, &reporter::on_memory_retired),
            guarded(this, &reporter::on_controller_lost),
            guarded(this, &reporter::on_wish_refused),
            guarded(this, &reporter::on_callback_failed),
            guarded(this, &reporter::on_device_lost),
            guarded(this, &reporter::on_state_reported),
            guarded(this, &reporter::on_read_status),
            guarded(this, &reporter::on_shard_saved),
            guarded(this, &reporter::on_model_saved),
            guarded(this, &reporter::on_check_progress),
            guarded(this, &reporter::on_read_meters),
            guarded(this, &reporter::on_shut_down)};
  }

  void on_exit() override {
    setup_.supervisor = nullptr;
    if (auto sink = std::exchange(setup_.sink, nullptr)) {
      if (!complete_) {
        abort({fault_code::internal,
               "the reporter of the run has died, which is an error of Hydra: the run was halted, every "
               "model was saved that could be, and nothing more is known of it"});
      }
      sink(finished());
    }
  }

  void on_fault(const fault& why) {
    // It continues: for the session the record is the end of the run, after which devices are destroyed.
    services_.log->error("reporter fails: {}", why.text);
    if (!record_.aborted) {
      record_.aborted = why;
      send(setup_.supervisor, run_aborted{why, true});
    }
  }

 private:
  void on_begin_run(const begin_run& m) {
    record_.began = m.at;
    meters_.emplace(setup_.devices, setup_.host);
    if (meters_->any() || records_expenses()) {
      delayed_send(this, between_readings, read_meters{});
    }
  }

  void on_read_meters(const read_meters&) {
    read_all_meters();
    record_expenses();
    delayed_send(this, between_readings, read_meters{});
  }

  void on_model_admitted(const model_admitted& m) {
    ++events_;
    close_period(worked_until());
    record_.joined.insert_or_assign(m.model, m.entry);
    if (m.model.value < record_.models.size()) {
      admit(m.model, m.entry);
      setup_.models[m.model.value] = m.entry.what;
    } else {
      auto& out = record_.models.emplace_back(empty_outcome(*m.entry.what, m.entry.standing));
      times_.emplace_back(*m.entry.what);
      out.arrival = std::max(out.arrival, clock().now() - record_.began);
      setup_.models.push_back(m.entry.what);
      if (setup_.progress) {
        expect(*setup_.progress, m.entry);
      }
    }
    if (setup_.metrics) {
      setup_.metrics->joined(m.model, m.entry);
    }
  }

  /// One that has waited for memory, or was paused: it has the cuts that it was planned with. Its checkpoint may be
  /// that of another run, which has trained it meanwhile, or an older one, if it was dropped.
  void admit(model_id model, const model_entry& entry) {
    auto& out = record_.models[model.value];
    if (out.waits) {
      times_[model.value] = unit_times_record(*entry.what);
      out = empty_outcome(*entry.what, entry.standing);
    } else {
      const auto here = static_cast<std::uint32_t>(out.history.losses.size());
      const bool trained_elsewhere = entry.standing.history.losses.size() > here;
      out.steps_before += trained_elsewhere ? steps_before(entry.standing) - here : 0;
      out.history = entry.standing.history;
    }
    out.ended = out.paused = false;
    out.why = {};
  }

  void on_model_refused(const model_refused& m) {
    ++events_;
    record_.refused.push_back({m.name, m.why, m.answered});
  }

  void on_step_completed(const step_completed& m) {
    auto& out = record_.models.at(m.model.value);
    out.history.losses.push_back(m.loss);
    if (setup_.models[m.model.value]->update.clip_norm > 0) {
      out.history.grad_norms.push_back(m.grad_norm);
    }
    if (setup_.progress) {
      setup_.progress->step(m.name, step_index{m.done - 1}, m.of, m.loss, clock().now());
    }
    if (setup_.metrics) {
      setup_.metrics->step(m, *setup_.models[m.model.value], clock().now(), spent_by(m.model));
    }
  }

  void on_evaluation_completed(const evaluation_completed& m) {
    auto& out = record_.models.at(m.model.value);
    out.smallest.evaluated_first = out.smallest.evaluated_first || (m.done > 0 && m.done == out.steps_before);
    out.history.evaluations.push_back({m.done, m.loss, m.accuracy});
    out.smallest.evaluations += 1;
    out.last_update = clock().now();
    record_.last_update = clock().now();
    last_work_ = clock().now();
    if (setup_.progress) {
      setup_.progress->evaluated(m.name, m.loss);
    }
    if (setup_.metrics) {
      setup_.metrics->evaluation(m, spent_by(m.model));
    }
  }

  void on_shard_completed(const shard_completed& m) {
    ++events_;
    auto& out = record_.models.at(m.what.model.value);
    first_placed_ = first_placed_.value_or(m.times.placed);
    if (!out.first_completion) {
      close_period(m.times.begin);
    }
    last_work_ = clock().now();
    if (auto& times = times_.at(m.what.model.value)) {
      times->add(m.what, m.times);
    }
    breakdown_.add(m.what, m.device, m.times, out.smallest.waves);
    if (services_.spans) {
      const auto now = clock().now();
      const auto track = "model " + setup_.models[m.what.model.value]->name;
      services_.spans->record({"shard_completed", track, now, now, to_string(m.what)});
    }
    if (setup_.progress) {
      setup_.progress->unit_completed(m.device, m.times.compute, clock().now());
    }
    if (!out.first_completion) {
      out.first_completion = clock().now() - m.times.compute;
    }
  }

  void on_shard_updated(const shard_updated& m) {
    ++events_;
    auto& out = record_.models.at(m.model.value);
    if (auto& times = times_.at(m.model.value)) {
      times->add_update(m.shard, m.elapsed);
    }
    record_.optimizer_busy += m.elapsed;
    out.last_update = clock().now();
    record_.last_update = clock().now();
    last_work_ = clock().now();
  }

  void on_task_ended(const task_ended& m) {
    ++events_;
    close_period(worked_until());
    auto& out = record_.models.at(m.model.value);
    out.ended = true;
    out.steps = std::max(m.steps, static_cast<std::uint32_t>(out.history.losses.size()));  // a task that died reports 0
    out.stopped = m.stopped;
    out.paused = m.paused;
    out.waits = out.waits && m.paused;
    out.why = m.why;
    out.unsaved = m.unsaved;
    // A model that failed may have a last step whose update was never reported: its bound leaves that step out.
    const auto complete = m.why && m.steps > 0 ? m.steps - 1 : m.steps;
    out.smallest.steps = complete > out.steps_before ? complete - out.steps_before : 0;
    out.smallest.evaluated_last = !m.why && out.smallest.evaluations > 0 && out.history.evaluated_after(m.steps);
    record_.saved = clock().now();
    if (setup_.progress && (m.stopped || m.why) && !m.paused) {
      setup_.progress->left(setup_.models[m.model.value]->name);
    }
  }

  void on_model_released(const model_released& m) {
    auto& out = record_.models.at(m.model.value);
    out.digest = m.digest;
    if (!out.paused && !out.waits) {
      sum_up(m.model.value);
    }
    if (const auto joined = record_.joined.find(m.model); joined != record_.joined.end()) {
      reduce(m.model, joined->second);
    }
  }

  /// Reduces the entry to what the report needs. (The session keeps the models that a run starts with.)
  void reduce(model_id model, model_entry& entry) {
    entry.data = {};
    entry.standing = {};
    if (!services_.kept) {
      auto rest = std::make_shared<sharded_model>();
      rest->name = entry.what->name;
      rest->plan = entry.what->plan;
      rest->terms = entry.what->terms;
      rest->steps = entry.what->steps;
      entry.what = setup_.models[model.value] = std::move(rest);
    }
  }

  void on_device_retired(const device_retired& m) {
    auto& device = record_.devices.at(m.device.value);
    device.counters = {m.busy, m.exposed_transfer, m.h2d_bytes, m.d2h_bytes, m.cache_hits, m.cache_misses,
                       m.saved, m.recomputed};
    device.retired = device.retired || !m.early;
    device.reason = m.why.empty() ? device.reason : m.why;
    record_.leftovers += m.leftovers;
  }

  /// A device that has retired is not lost: it has only ended. Its own fault says more than that its actor is gone.
  void on_device_lost(const device_lost& m) {
    auto& device = record_.devices.at(m.device.value);
    device.lost = !device.retired;
    device.reason = device.lost && device.reason.empty() ? m.why.text : device.reason;
  }

  void on_scheduler_retired(const scheduler_retired& m) {
    record_.policy = m.policy;
    record_.decisions = m.decisions;
    record_.decision_mean = m.mean;
    record_.decision_p99 = m.p99;
    record_.decision_wait = m.waited;
    record_.replacements = m.replacements;
    record_.dropped_advice = m.dropped_advice;
    record_.first_prefetch = m.first_placement;
  }

  void on_memory_retired(const memory_retired& m) {
    record_.leftovers += m.leftovers;
    record_.homes = m.homes;
  }

  void on_controller_lost(const controller_lost& m) { record_.callbacks_lost = m.why; }
  void on_wish_refused(const wish_refused& m) { record_.refused_wishes.push_back(m.why); }
  void on_callback_failed(const callback_failed& m) { record_.callbacks_failed.push_back(m.why); }

  /// Saving takes time and counts as progress.
  void on_shard_saved(const shard_saved&) { ++events_; }
  void on_model_saved(const model_saved& m) {
    ++events_;
    auto& totals = record_.checkpoints;
    totals.elapsed += m.elapsed;
    if (m.why) {
      totals.why = m.why;
    } else {
      ++totals.saved;
      record_.models.at(m.model.value).checkpoints += m.best ? 0 : 1;
      record_expenses();  // a run that goes on from it counts what it has cost
    }
  }

  /// Asked for by the SUPERVISOR: it halts the run, which does not wait for a command.
  void on_state_reported(const state_reported& m) {
    if (!record_.aborted) {
      record_.aborted = stall();
      services_.log->error("{}", record_.aborted.text);
    }
    if (!m.what.empty()) {
      services_.log->error("{}:\n{}", m.who, m.what);
      record_.stuck += m.who + "\n" + m.what + "\n";
    }
  }

  void on_read_status(const read_status& m) {
    auto s = m.status;
    const auto now = clock().now();
    s.elapsed = now - record_.began;
    for (std::size_t i = 0; i < record_.models.size() && i < s.models.size(); ++i) {
      describe(s.models[i], record_.models[i], *setup_.models[i], s.elapsed);
      add_step_times(s.models[i], i);
    }
    for (const auto& r : record_.refused) {
      if (!r.answered) {
        s.models.push_back({.name = r.name, .phase = model_phase::failed, .note = r.why.text});
      }
    }
    for (std::uint32_t i = 0; i < setup_.devices.size(); ++i) {
      const auto busy = breakdown_.of(device_id{i}, record_.began, now).compute;
      s.devices.push_back({.name = setup_.devices[i]->info().name,
                           .busy = s.elapsed > duration{} ? seconds(busy) / seconds(s.elapsed) : 0,
                           .memory = setup_.devices[i]->memory()});
    }
    read_all_meters();
    const auto spent = before_ + spent_in(work_so_far());
    s.spent = spent.all;
    s.currency = setup_.terms.currency;
    for (auto& model : s.models) {
      model.spent = spent.of(model.name);
    }
    const auto& host = services_.arena->budget();
    s.host = {host.used(), host.peak(), host.limit()};
    m.answer(std::move(s));
  }

  static void describe(model_now& now, const model_outcome& out, const sharded_model& m, duration elapsed) {
    now.steps = static_cast<std::uint32_t>(out.history.losses.size());
    now.of = m.steps;
    if (!out.history.losses.empty()) {
      now.loss = out.history.losses.back();
      now.learning_rate = m.update.learning_rate * schedule_factor(m.update.schedule, now.steps - 1, m.steps);
    }
    if (!out.history.evaluations.empty()) {
      now.validation = out.history.evaluations.back().loss;
    }
    now.checkpoints = out.checkpoints;
    if (now.phase == model_phase::failed) {
      now.note = out.why.text;
      now.why = out.why.code;
    }
    if (now.released) {
      now.digest = out.digest;
      now.unsaved = static_cast<bool>(out.unsaved);
    }
    if (now.phase == model_phase::training && !out.first_completion && out.arrival > elapsed) {
      now.note = "arrives " + to_string(out.arrival) + " after the start";
    }
  }

  /// Every unit of a step has been seen.
  static bool is_measured(const unit_times& step) {
    for (std::size_t s = 0; s < step.backward.size(); ++s) {
      const bool trained = s >= step.first_trained;
      if ((trained && step.backward[s] == duration{}) ||
          (s + 1 < step.backward.size() && step.forward[s] == duration{})) {
        return false;
      }
    }
    return !step.backward.empty();
  }

  /// By the bounds of steps on one device.
  void add_step_times(model_now& now, std::size_t model) const {
    auto step = record_.models[model].smallest;
    if (times_[model]) {
      times_[model]->smallest(step);
    }
    if (!is_measured(step)) {
      return;
    }
    step.evaluations = 0;
    const auto after = [&step](std::uint32_t steps) {
      step.steps = steps;
      return lower_bounds(std::span(&step, 1), {.speeds = {1.0}});
    };
    const auto one = after(1), two = after(2);
    now.step_work = one.work;
    now.step_chain = two.chain - one.chain;
  }

  void on_check_progress(const check_progress& m) {
    if (m.last_seen == events_ && somebody_should_work()) {
      send(setup_.supervisor, run_stalled{stall(), caf::actor_cast<reporter_actor>(this)});
    }
    delayed_send(this, setup_.stall_limit, check_progress{events_});
  }

  fault stall() const {
    return {fault_code::internal, "the run made no progress for " + to_string(setup_.stall_limit)};
  }

  /// A model takes part since at least the stall limit, and has not ended.
  bool somebody_should_work() const {
    const auto since = clock().now() - setup_.stall_limit - record_.began;
    return std::ranges::any_of(record_.models,
                               [&](const auto& m) { return !m.ended && !m.waits && m.arrival <= since; });
  }

  void on_shut_down(const shut_down&) {
    complete_ = true;
    quit();
  }

  /// In an orderly end shut_down arrives first.
  void on_supervisor_down() {
    services_.log->error("the supervisor of the run has died");
    abort({fault_code::internal,
           "the supervisor of the run has died, which is an error of Hydra: everything was ended at "
           "once; checkpoints may have what was trained"});
    quit();
  }

  /// A model that may not go on needs no more than the result.
  void sum_up(std::size_t model) {
    auto& out = record_.models[model];
    if (const auto times = std::exchange(times_[model], {})) {
      out.usual = out.smallest;
      times->smallest(out.smallest);
      times->usual(out.usual);
    }
  }

  void abort(const fault& why) { record_.aborted = record_.aborted ? record_.aborted : why; }

  /// Without the sums over the run if computing them throws: the session waits for the record.
  run_record finished() {
    try {
      finish();
    } catch (...) {
      abort(to_fault(std::current_exception()));
    }
    return std::move(record_);
  }

  void finish() {
    for (std::uint32_t i = 0; i < record_.models.size(); ++i) {
      auto& out = record_.models[i];
      sum_up(i);
      out.pipeline = breakdown_.of(model_id{i});
    }
    if (const auto paid = paid_time()) {
      read_all_meters();
      record_.work = work_in(*paid);
      record_.spent = account_.so_far(record_.work);
      if (records_expenses()) {
        setup_.expenses->write(spent_in(record_.work));
      }
    }
    if (!has_makespan()) {
      return;
    }
    for (std::uint32_t i = 0; i < record_.devices.size(); ++i) {
      record_.devices[i].time = breakdown_.of(device_id{i}, *record_.first_prefetch, *record_.last_update);
    }
  }

  bool has_makespan() const { return record_.first_prefetch && record_.last_update; }

  /// At the end. None: nothing was trained.
  std::optional<duration> paid_time() const {
    return setup_.open_end  ? std::optional(clock().now() - record_.began)
           : has_makespan() ? std::optional(*record_.last_update - *record_.first_prefetch)
                            : std::nullopt;
  }

  /// Whether anything costs money, or its energy is known.
  bool spends() const {
    const auto has_terms = [](const expense_terms& t) { return t.price || t.watts; };
    return has_terms(setup_.terms.host) || std::ranges::any_of(setup_.terms.devices, has_terms) ||
           (meters_ && meters_->any());
  }

  /// A model comes or goes.
  void close_period(time_point end) {
    if (spends()) {
      read_all_meters();
      account_.close_period(work_in(paid_until(end)));
    }
  }

  /// In this part of the run, by the last reading of meters.
  shared_expense spent_in(const run_work& work) const {
    std::vector<std::string> names;
    std::ranges::transform(setup_.models, std::back_inserter(names), [](const auto& m) { return m->name; });
    return by_name(account_.so_far(work), names);
  }

  /// So far, with the parts of the run before.
  expense spent_by(model_id model) const {
    return spends() ? before_.of(setup_.models[model.value]->name) + account_.so_far(work_so_far()).models[model.value]
                    : expense{};
  }

  /// Also of a part in which nothing costs money: the next one has to know that.
  bool records_expenses() const { return setup_.expenses && (spends() || before_.all != expense{}); }

  void record_expenses() {
    if (records_expenses()) {
      read_all_meters();
      setup_.expenses->write(spent_in(work_so_far()));
    }
  }

  void read_all_meters() {
    if (meters_) {
      meters_->read();
    }
  }

  /// Waiting for models that arrive later, and saving at the end, are not paid, as they are not part of the makespan.
  time_point worked_until() const { return setup_.open_end ? clock().now() : last_work_; }
  duration paid_until(time_point end) const {
    const auto from = setup_.open_end ? record_.began : first_placed_.value_or(end);
    return std::max(end - from, duration{});
  }
  run_work work_so_far() const { return work_in(paid_until(worked_until())); }

  /// What has been done so far, if the run has taken so long.
  run_work work_in(duration makespan) const {
    run_work w{.makespan = makespan, .models = record_.models.size()};
    for (const auto& m : record_.models) {
      w.ended.push_back(m.ended && !m.paused);
    }
    for (std::uint32_t i = 0; i < record_.devices.size(); ++i) {
      const auto id = device_id{i};
      w.devices.push_back({.computed = breakdown_.computed(id, w.models),
                           .used = breakdown_.used(id),
                           .measured = meters_ ? meters_->of_device(i) : std::nullopt});
    }
    w.host = meters_ ? meters_->of_host() : std::nullopt;
    return w;
  }

  run_services services_;
  reporter_setup setup_;
  run_record record_;
  std::vector<std::optional<unit_times_record>> times_;  ///< of each model that may still have units
  breakdown_tracker breakdown_;
  expense_account account_;
  std::optional<time_point> first_placed_;               ///< the first unit
  time_point last_work_{};                               ///< a unit, an update or an evaluation was complete
  shared_expense before_;                                ///< what the parts of the run before have taken
  std::optional<energy_meters> meters_;                  ///< from the begin of the run
  std::uint64_t events_ = 1;
  bool complete_ = false;   ///< all actors have reported
};

}  // namespace

reporter_actor spawn_reporter(caf::actor_system& system, const run_services& services, const reporter_setup& setup) {
  return system.spawn<reporter>(services, setup);
}

}  // namespace hydra
