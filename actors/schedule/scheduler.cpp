#include "actors/schedule/scheduler.hpp"

#include "actors/model/retry_tracker.hpp"
#include "actors/policy/advised_policy.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/policy/device_health.hpp"
#include "actors/policy/device_watch.hpp"
#include "actors/policy/schedule_tracker.hpp"
#include "actors/protocol/guarded.hpp"
#include "actors/protocol/own_thread.hpp"
#include "runtime/base/duration_histogram.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// SCHEDULER: turns messages into calls of the schedule tracker and placements into messages.
class scheduler final : public scheduler_actor::base {
 public:
  using super = scheduler_actor::base;

  scheduler(caf::actor_config& config, run_services services, scheduler_setup setup)
      : super(config),
        tracker_(std::move(setup.chosen)),
        stand_in_(std::move(setup.stand_in)),
        built_in_(setup.built_in),
        advice_(std::move(setup.advice)),
        watch_(setup.watch),
        watches_(setup.watch.minimum > duration{}),
        services_(std::move(services)),
        reporter_(std::move(setup.reporter)),
        supervisor_(std::move(setup.supervisor)) {}

  static constexpr const char* actor_name = "scheduler";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    watch_policy_actor();
    return {guarded(this, &scheduler::on_device_added),   guarded(this, &scheduler::on_model_added),
            guarded(this, &scheduler::on_model_left),     guarded(this, &scheduler::on_unit_ready),
            guarded(this, &scheduler::on_device_freed),   guarded(this, &scheduler::on_shard_completed),
            guarded(this, &scheduler::on_shard_failed),   guarded(this, &scheduler::on_device_lost),
            guarded(this, &scheduler::on_policy_advised), guarded(this, &scheduler::on_check_policy),
            guarded(this, &scheduler::on_check_devices),  guarded(this, &scheduler::on_report_state),
            guarded(this, &scheduler::on_shut_down)};
  }

  void on_exit() override {
    drop_policy_actor();
    devices_.clear();
    tasks_.clear();
    reporter_ = nullptr;
    supervisor_ = nullptr;
  }

  void on_fault(const fault& why) {
    services_.log->error("scheduler fails: {}", why.text);
    quit(caf::exit_reason::unhandled_exception);
  }

  // -- messages -------------------------------------------------------------------------------------------------------

  void on_device_added(const device_added& m) {
    devices_[m.device] = m.actor;
    tracker_.add_device(m.device, m.speed, m.link, m.latency);
    health_.add_device(m.device);
    settle();
  }

  void on_model_added(const model_added& m) {
    tasks_[m.model] = m.task;
    tracker_.add_model(m.model, m.traits);
    settle();
  }

  /// Its staged units are withdrawn; those that compute may complete.
  void on_model_left(const model_left& m) {
    for (const auto& flight : tracker_.flights_of(m.model)) {
      send(devices_.at(flight.device), withdraw_unit{flight.what, true});
    }
    tracker_.remove_model(m.model);
    health_.model_left(m.model);
    leaving_.insert(m.model);
    tell_drained(m.model);
    settle();
  }

  void on_unit_ready(const unit_ready& m) {
    tracker_.announce(m, clock().now());
    settle();
  }

  void on_device_freed(const device_freed& m) {
    watch_.sign_of_life(m.device, clock().now());
    tracker_.blocks_cached(m.device, m.cached, m.dropped);
    tracker_.device_freed(m.device, m.credits, m.running, clock().now());
    settle();
  }

  void on_shard_completed(const shard_completed& m) {
    watch_.sign_of_life(m.device, clock().now());
    watch_.measured(m.device, m.times.promote.value_or(duration{}) + m.times.demote.value_or(duration{}));
    for (const auto& broken : health_.unit_completed(m.device, m.what)) {
      give_up(broken.device,
              "units of several models have thrown on it that other devices completed, and it has completed "
              "none since; the last one: " +
                  broken.thrown);
    }
    tracker_.unit_completed(m.what, clock().now());
    tell_drained(m.what.model);
    settle();
  }

  void on_shard_failed(const shard_failed& m) {
    watch_.sign_of_life(m.device, clock().now());
    if (m.why.code == fault_code::device_lost) {
      give_up(m.device, m.why.text);
    } else if (has_thrown(m.why.code)) {
      health_.unit_threw(m.device, m.what, m.why.text);
    }
    // Units that follow it in other lanes have not failed themselves.
    const fault follows{fault_code::dependency_failed, m.why.text};
    const auto lost = tracker_.unit_failed(m.what);
    for (const auto& loss : lost) {
      tell(loss, &loss == &lost.front() ? m.why : follows, m.device);
    }
    tell_drained(m.what.model);
    settle();
  }

  void on_device_lost(const device_lost& m) {
    devices_.erase(m.device);
    forget(m.device);
    for (const auto& loss : tracker_.device_lost(m.device)) {
      tell(loss, m.why, m.device);
    }
    for (const auto model : std::set(leaving_)) {
      tell_drained(model);
    }
    settle();
  }

  void on_policy_advised(const policy_advised& m) {
    if (advice_.asks != nullptr) {
      if (const auto asked = advice_.asks->asked(m.device, m.request); asked && m.choice) {
        waited_ += tracker_.idle_time(m.device, *asked, clock().now());
      }
      advice_.asks->advised(m.request, m.device, m.choice);
    }
    place_if_quiet();
  }

  void on_check_policy(const check_policy&) {
    awaiting_ = false;
    const auto since = advice_.asks == nullptr ? std::nullopt : advice_.asks->waiting_since();
    if (since && clock().now() - *since >= advice_.limit) {
      replace_policy("has not answered for " + to_string(advice_.limit));
    }
    settle();
  }

  void on_check_devices(const check_devices&) {
    looking_ = false;
    if (const auto found = watch_.look(tracker_.loads(), clock().now())) {
      give_up(found->device,
              "it has given no sign of life for " + to_string(found->lasted) + ", although it holds units");
    }
    settle();
  }

  void on_report_state(const report_state& m) {
    send(m.to, state_reported{actor_name, tracker_.describe()});
    settle();
  }

  void on_shut_down(const shut_down&) {
    drop_policy_actor();
    report();
    quit();
  }

 private:
  /// A model that has left, and none of whose units is on any device, not even one that is being withdrawn.
  void tell_drained(model_id model) {
    if (leaving_.contains(model) && !tracker_.is_held(model)) {
      leaving_.erase(model);
      send(supervisor_, model_drained{model});
      if (const auto task = tasks_.extract(model)) {
        send(task.mapped(), model_drained{model});
      }
    }
  }

  // -- a policy that is an actor --------------------------------------------------------------------------------------

  void watch_policy_actor() {
    if (!advice_.actor) {
      return;
    }
    set_down_handler([this](const caf::down_msg&) { on_policy_actor_down(); });
    monitor(advice_.actor);
    advice_.asks->connect([this](const advice_question& q) {
      send(advice_.actor, advice_wanted{q.request, q.shown.device, q.shown.candidates, q.shown.devices,
                                      q.shown.models, q.shown.now, this});
    });
  }

  void on_policy_actor_down() {
    if (advice_.asks != nullptr) {
      replace_policy("is gone: its actor has died or cannot be reached any more");
    }
    settle();
  }

  void await_advice() {
    const auto since = awaiting_ || advice_.asks == nullptr ? std::nullopt : advice_.asks->waiting_since();
    if (since) {
      awaiting_ = true;
      delayed_send(this, *since + advice_.limit - clock().now(), check_policy{});
    }
  }

  /// Its answers are ignored from now on.
  void drop_policy_actor() {
    if (advice_.asks != nullptr) {
      dropped_advice_ += advice_.asks->dropped();
    }
    if (advice_.actor && !advice_.outlives_run) {
      end_actor(advice_.actor);
    }
    advice_ = {};
  }

  // -- devices that do not respond -----------------------------------------------------------------------------------

  /// The supervisor ends it; its units are undone when the memory manager has fenced it.
  void give_up(device_id device, const std::string& why) {
    forget(device);
    send(supervisor_, device_given_up{device, {fault_code::device_lost, why}});
  }

  void forget(device_id device) {
    health_.device_left(device);
    watch_.device_left(device, clock().now());
  }

  /// Only while a device holds units: a run in virtual time ends when nothing is left to do.
  void keep_watch() {
    if (!watches_ || looking_) {
      return;
    }
    if (const auto next = watch_.next_look(tracker_.loads())) {
      looking_ = true;
      delayed_send(this, *next - clock().now(), check_devices{});
    }
  }

  /// `device`: where it began.
  void tell(const model_loss& loss, const fault& why, device_id device) {
    const auto& task = tasks_.at(loss.model);
    if (loss.lost.empty()) {
      send(task, unit_lost{loss.first, loss.next_attempt, why, device});  // its announcement is void
    }
    for (const auto& flight : loss.lost) {
      send(task, unit_lost{flight.what, loss.next_attempt, why, flight.device});
    }
    for (const auto& flight : loss.withdraw) {
      send(devices_.at(flight.device), withdraw_unit{flight.what});
    }
  }

  /// After every message: decides only if no other message is in the mailbox. A decision cannot be revoked, and the
  /// next message may announce a better unit.
  void settle() {
    if (advice_.asks != nullptr) {
      advice_.asks->happened();
    }
    place_if_quiet();
  }

  /// Many messages must not delay devices.
  void place_if_quiet() {
    constexpr std::uint32_t most_unsettled = 64;
    if (mailbox().empty() || ++unsettled_ >= most_unsettled) {
      unsettled_ = 0;
      place();
    }
  }

  void place() {
    dispatch(decide());
    if (tracker_.starved() && tracker_.all_announced() && !tracker_.chosen().pending()) {
      replace_policy("stays silent although units are ready and nothing is under way");
      dispatch(decide());
    }
    keep_watch();
    await_advice();
  }

  void dispatch(const std::vector<placement>& placements) {
    for (const auto& p : placements) {
      const auto& device = devices_.at(p.device);
      first_placement_ = first_placement_ ? first_placement_ : clock().now();
      if (services_.log->should_log(spdlog::level::debug)) {
        services_.log->debug("scheduler places {} on device {}", to_string(p.next), p.device.value);
      }
      send(device, prefetch_shard{p.next, p.available});
      send(tasks_.at(p.next.model), unit_placed{p.next, p.device, device});
    }
  }

  /// A policy that throws or whose choice is not a candidate is replaced; units that it placed before stay placed.
  std::vector<placement> decide() {
    const auto start = steady_clock::now();
    const auto asked_before = tracker_.decisions();
    std::vector<placement> placements;
    const auto collect = [&](const placement& p) { placements.push_back(p); };
    try {
      tracker_.decide(clock().now(), collect);
    } catch (...) {
      replace_policy("fails: " + to_fault(std::current_exception()).text);
      tracker_.decide(clock().now(), collect);
    }
    if (tracker_.decisions() > asked_before) {
      const auto took = steady_clock::now() - start;
      decision_times_.add(took);
      waited_ += took * std::ranges::count_if(placements, &placement::waited);
    }
    return placements;
  }

  /// For a built-in policy it is an error of Hydra, and the message says so.
  void replace_policy(const std::string& reason) {
    const auto built_in = std::exchange(built_in_, true);  // as its replacement is
    const auto text = "policy " + tracker_.chosen().name() + " was replaced by sharded-lrtf: it " + reason +
                      (built_in ? " (it is built in: this is an error of Hydra; please report it)" : "");
    services_.log->warn("scheduler: {}", text);
    replacements_.push_back(text);
    send(supervisor_, policy_replaced{tracker_.chosen().name(), text});
    drop_policy_actor();
    tracker_.replace_policy(stand_in_ ? stand_in_() : make_policy("sharded-lrtf", 0));
  }

  void report() {
    send(reporter_, scheduler_retired{.policy = tracker_.chosen().name(), .decisions = tracker_.decisions(),
                                      .mean = decision_times_.mean(), .p99 = decision_times_.quantile(0.99),
                                      .waited = waited_, .first_placement = first_placement_,
                                      .replacements = replacements_, .dropped_advice = dropped_advice_});
  }

  schedule_tracker tracker_;
  std::uint32_t unsettled_ = 0;      ///< messages since the last decision
  policy_maker stand_in_;
  bool built_in_;
  running_policy_actor advice_;                   ///< null once it is replaced
  bool awaiting_ = false;            ///< a check_policy is under way
  std::uint64_t dropped_advice_ = 0;
  device_health health_;
  device_watch watch_;
  bool watches_;
  bool looking_ = false;   ///< a check_devices is under way

  run_services services_;
  reporter_actor reporter_;
  supervisor_actor supervisor_;
  std::map<device_id, device_actor> devices_;
  std::map<model_id, task_actor> tasks_;
  std::set<model_id> leaving_;  ///< have left, but still have units on devices
  duration_histogram decision_times_;
  duration waited_{};           ///< of idle devices, for decisions
  std::vector<std::string> replacements_;
  std::optional<time_point> first_placement_;
};

}  // namespace

scheduler_actor spawn_scheduler(caf::actor_system& system, const run_services& services, scheduler_setup setup) {
  return spawn_detached_if<scheduler>(setup.advice.apart, system, services, std::move(setup));
}

}  // namespace hydra
