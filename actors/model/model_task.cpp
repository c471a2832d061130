#include "actors/model/model_task.hpp"

#include "actors/checkpoint/save_tracker.hpp"
#include "actors/model/announced_unit.hpp"
#include "actors/model/failure_texts.hpp"
#include "actors/model/model_results.hpp"
#include "actors/model/observer.hpp"
#include "actors/model/resumed_position.hpp"
#include "actors/model/retry_tracker.hpp"
#include "actors/model/task_tracker.hpp"
#include "actors/protocol/guarded.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace hydra {

namespace {

/// In this order, but that a model which stays() is scheduled again.
enum class task_phase : std::uint8_t {
  arriving,   ///< it is to join the schedule later
  scheduled,  ///< its units are announced
  leaving,    ///< no unit is announced any more; the scheduler may still send what concerns those before
  drained,    ///< none of its units is on any device
  ended,
};

enum class pause_phase : std::uint8_t {
  none,
  due,       ///< when the step that has begun has ended
  saving,    ///< it ends as paused when it is saved
  dropping,  ///< the same without being saved
};

/// The SUPERVISOR waits until the model is saved between two steps.
enum class keep_phase : std::uint8_t {
  none,
  wanted,
  captured,  ///< the last capture was made for that
};

/// MODEL TASK: announces the units of one model and keeps its history; what may be announced is decided by
/// task_tracker.
class model_task final : public task_actor::base {
 public:
  using super = task_actor::base;

  model_task(caf::actor_config& config, run_services services, task_setup setup)
      : super(config),
        services_(std::move(services)),
        setup_(std::move(setup)),
        observer_(std::move(setup_.controller), setup_.observed),
        tracker_(units_of(setup_.id, *setup_.what), observer_.wants_steps()),
        results_(setup_.id, setup_.what, setup_.standing),
        saves_(static_cast<bool>(setup_.checkpointer)) {
    tracker_.follow_on_device(setup_.what->follows_on_device);
    tracker_.hold_evaluations(observer_.wants_evaluations() || setup_.what->keep_best);
    tracker_.begin_attempts(setup_.first_attempt);
    begin_where_it_stopped();
  }

  static constexpr const char* actor_name = "model task";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &model_task::on_begin_run),         guarded(this, &model_task::on_model_arrived),
            guarded(this, &model_task::on_unit_placed),       guarded(this, &model_task::on_unit_lost),
            guarded(this, &model_task::on_shard_completed),   guarded(this, &model_task::on_losses_gathered),
            guarded(this, &model_task::on_shard_updated),     guarded(this, &model_task::on_batch_ready),
            guarded(this, &model_task::on_step_acknowledged), guarded(this, &model_task::on_evaluation_acknowledged),
            guarded(this, &model_task::on_controller_lost),   guarded(this, &model_task::on_checkpoint_due),
            guarded(this, &model_task::on_model_captured),    guarded(this, &model_task::on_model_saved),
            guarded(this, &model_task::on_stop_model),        guarded(this, &model_task::on_pause_model),
            guarded(this, &model_task::on_keep_model),        guarded(this, &model_task::on_model_drained),
            guarded(this, &model_task::on_run_aborted),       guarded(this, &model_task::on_report_state),
            guarded(this, &model_task::on_shut_down)};
  }

  void on_exit() override {
    setup_ = {};
    observer_.lost();
    results_ = {{}, nullptr, {}};
  }

  void on_fault(const fault& why) {
    services_.log->error("model {} fails: {}", setup_.what ? setup_.what->name : "", why.text);
    end(why);  // it still answers unit_placed: a device must not wait for an execute_shard that is never sent
  }

  // -- messages -------------------------------------------------------------------------------------------------------

  void on_begin_run(const begin_run& m) {
    run_began_ = m.at;
    await_arrival();
  }

  void on_model_arrived(const model_arrived&) {
    if (phase_ != task_phase::arriving) {
      return;  // it was halted before
    }
    phase_ = task_phase::scheduled;
    arrived_ = true;
    join_schedule();
    if (setup_.checkpointer && setup_.checkpoints.every > duration{}) {
      delayed_send(this, setup_.checkpoints.first, checkpoint_due{});
    }
    if (observe_again_) {
      observer_.see(this, results_.step(static_cast<std::uint32_t>(history().losses.size()) - 1));
    }
    if (evaluation_open_) {
      observer_.see(this, results_.evaluation());
    }
    advance();
  }

  void on_unit_placed(const unit_placed& m) {
    tracker_.placed(m.what, m.device);
    const auto targets = targets_.find(tracker_.batch_of(m.what));
    send(m.actor, execute_shard{m.what, setup_.what, targets == targets_.end() ? 1 : targets->second});
    advance();
  }

  void on_unit_lost(const unit_lost& m) {
    if (tracker_.lost(m.what, m.next_attempt) && !saves_.leaving() &&
        !retries_.may_retry(m.what, m.device, m.why.code)) {
      const auto failures = retries_.failures(m.what, m.why.code);
      end({m.why.code, unit_failure_text(setup_.what->name, {m.what, m.why.text, failures, m.device})});
    }
    advance();
  }

  void on_shard_completed(const shard_completed& m) {
    if (has_ended() || !tracker_.completed(m.what)) {
      return;
    }
    const auto speed = m.times.speed;
    tracker_.measured(m.what,
                      duration{static_cast<std::int64_t>(static_cast<double>(m.times.compute.count()) * speed)});
    if (results_.has_loss(m.what)) {
      m.what.way == direction::evaluate ? add_scores(m)
                                        : take_loss(results_.step_losses(m.what, m.losses), m.what.step);
    }
    if (tracker_.completed_steps() == m.what.step.value + 1) {
      targets_.erase(tracker_.batch_of(m.what));
      results_.step_computed(m.what.step);
      report_step();
    }
    advance();
  }

  void on_losses_gathered(const losses_gathered& m) {
    if (!has_ended()) {
      take_loss(results_.gathered_losses(m.losses), m.step);
      report_step();
      advance();
    }
  }

  void on_shard_updated(const shard_updated& m) {
    if (has_ended()) {
      return;
    }
    if (m.why) {
      end(m.why);
      return;
    }
    tracker_.version_at_home(m.shard, m.version);
    if (m.grad_norm && results_.step_norm(m.version, *m.grad_norm)) {
      report_step();
    }
    if (tracker_.whole_version() == m.version.value) {
      save_between_steps(m.version.value);
    }
    advance();
  }

  void on_batch_ready(const batch_ready& m) {
    if (m.why) {
      end(m.why);
      return;
    }
    const bool trains = m.range.pass == pass_kind::train;
    targets_[m.range] = trains ? std::max(m.targets, std::size_t{1}) : m.targets;  // a step without any has loss 0
    tracker_.batch_at_home(m.range);
    advance();
  }

  void on_step_acknowledged(const step_acknowledged& m) {
    if (!observer_.there()) {
      return;  // it was given up: the run continued without this answer
    }
    take_answer(m.stop, m.step.value + 1);
    tracker_.acknowledged(m.step);
    advance();
  }

  void on_evaluation_acknowledged(const evaluation_acknowledged& m) {
    if (!observer_.there()) {
      return;
    }
    take_answer(m.stop, m.steps);
    advance();
  }

  void on_controller_lost(const controller_lost&) {
    observer_.lost();
    tracker_.unobserved();
    advance();
  }

  /// The step that has begun is its last one; nobody is asked whether it may end.
  void on_stop_model(const stop_model&) {
    if (has_ended() || saves_.leaving()) {
      return;
    }
    observer_.answered();
    take_stop(tracker_.begun_steps());
    if (phase_ == task_phase::arriving) {
      leave({});
    }
    advance();
  }

  /// Of what is on a device only what computes is completed.
  void on_pause_model(const pause_model& m) {
    if (has_ended() || saves_.leaving()) {
      return;
    }
    if (m.between_steps && phase_ != task_phase::arriving && !is_between_steps()) {
      pause_ = pause_phase::due;
      return;
    }
    pause_ = m.saves ? pause_phase::saving : pause_phase::dropping;
    const fault why{fault_code::interrupted, "it was paused"};
    if (!m.saves) {
      saves_.give_up(why);
    }
    leave(why);
  }

  /// If it stands between two steps, perhaps because the controller has not answered, at once. A checkpoint that is
  /// under way does not count: the model may have gone on since it was captured.
  void on_keep_model(const keep_model&) {
    if (has_ended()) {
      return;
    }
    keep_ = keep_phase::wanted;
    if (tracker_.completed_steps() == 0) {
      answer_kept({fault_code::refused, "model '" + setup_.what->name + "' has done no step yet"});
      return;
    }
    if (!is_between_steps()) {
      saves_.is_due();
    } else if (saves_.between_steps(true)) {
      capture();
    }
  }

  /// The scheduler has sent everything about its units: it may join again, or be continued elsewhere.
  void on_model_drained(const model_drained&) {
    if (phase_ == task_phase::leaving) {
      phase_ = task_phase::drained;
    }
    advance();
  }

  void on_run_aborted(const run_aborted& m) {
    pause_ = pause_phase::none;
    // A share of a step cannot be continued elsewhere.
    if (!m.save || (!setup_.what->share.whole() && !is_between_steps())) {
      saves_.give_up(m.why);
    }
    leave(m.why);
  }

  void on_report_state(const report_state& m) {
    auto text = has_ended() ? "" : tracker_.describe();
    if (saves_.saving()) {
      text += "a checkpoint is under way\n";
    }
    if (observer_.owes_answer()) {
      text += "it waits for the answer of the controller\n";
    }
    send(m.to, state_reported{"model task of " + setup_.what->name, text});
  }

  void on_shut_down(const shut_down&) { quit(); }

  void on_checkpoint_due(const checkpoint_due&) {
    saves_.is_due();
    delayed_send(this, setup_.checkpoints.every, checkpoint_due{});
  }

  /// The memory manager has sent every completion before this message: the cursor agrees with the memory.
  void on_model_captured(const model_captured& m) {
    if (has_ended()) {
      *m.memory = {};
      send(setup_.memory, model_saved{setup_.id, {fault_code::cancelled, "the model has ended"}});
      return;
    }
    auto begins = standing();
    if (m.memory->at_step_begin() && m.memory->boundaries.empty()) {
      begins.next.units.assign(begins.next.units.size(),
                               0);  // a few visits are repeated, instead of writing boundaries to disk
    }
    auto saved = here();
    if (!captures_boundaries_ && setup_.what->share.whole()) {
      saved.next = begins.next;
    }
    saves_.captured(saved);
    send(setup_.checkpointer, save_model{setup_.id, setup_.what, m.memory, std::move(begins),
                                         self_handle(), saves_.saving_best()});
    advance();
  }

  void on_model_saved(const model_saved& m) {
    saves_.saved(m.why);
    if (keep_ == keep_phase::captured) {
      answer_kept(m.why);
    } else if (keep_ == keep_phase::wanted) {
      on_keep_model({});
    }
    advance();
  }

 private:
  void await_arrival() {
    const bool resumed = !setup_.versions.empty() && setup_.first_attempt == 0;  // with its run: it had arrived
    const auto arrives = run_began_ + (resumed ? duration{} : setup_.what->terms.arrival);
    if (const auto now = clock().now(); arrives > now) {
      delayed_send(this, arrives - now, model_arrived{});
    } else {
      on_model_arrived({});
    }
  }

  task_actor self_handle() { return caf::actor_cast<task_actor>(this); }

  void join_schedule() {
    const auto& what = *setup_.what;
    const auto& deadline = what.terms.deadline;
    send(setup_.scheduler,
         model_added{setup_.id,
                     self_handle(),
                     {.priority = what.terms.priority,
                      .deadline = deadline ? std::optional(run_began_ + *deadline) : std::nullopt,
                      .shape = what.plan.shape(),
                      .graphs = what.graphs,
                      .shares_steps = !what.share.whole()}});
  }

  /// In the constructor: an update that was under way may be complete before the run has started.
  void begin_where_it_stopped() {
    const auto& saved = setup_.standing;
    if (setup_.versions.empty()) {
      return;
    }
    stopped_ = saved.stopped;
    if (stopped_) {
      tracker_.stop_after(saved.begun_steps());
    }
    const auto p = position_of(saved, tracker_.units(), observer_.wants_steps());
    observe_again_ = p.observe_again;
    evaluation_open_ = p.evaluation;
    tracker_.begin_at(p.first, observe_again_ ? p.reported - 1 : p.reported, setup_.versions);
    if (tracker_.completed_steps() > p.reported) {
      results_.step_computed(step_index{p.reported});  // its norm is not known yet
    }
    saves_.begins_at(here());
  }

  /// None: some are missing.
  void take_loss(std::optional<float> loss, step_index step) {
    if (loss && !std::isfinite(*loss) && setup_.what->stop_on_nan) {
      end({fault_code::not_finite, not_finite_text(step.value + 1, *loss)});
    }
  }

  void add_scores(const shard_completed& m) {
    const auto targets = targets_.extract(tracker_.batch_of(m.what));
    if (results_.add_scores(m.what, targets.empty() ? 0 : targets.mapped(), m.scores)) {
      report_evaluation(m.what.step.value);
    }
  }

  void report_evaluation(std::uint32_t steps) {
    const bool finite = results_.finish_evaluation(steps);
    auto message = results_.evaluation();
    message.history.clear();  // the reporter has its own
    send(setup_.reporter, message);
    if (!finite && setup_.what->stop_on_nan) {
      end({fault_code::not_finite, not_finite_validation_text(steps, message.loss)});
      return;
    }
    evaluation_open_ = steps;
    if (setup_.what->keep_best && history().last_is_best()) {
      saves_.is_best();
    }
    observer_.see(this, results_.evaluation());
  }

  /// Of a controller, `steps` complete: the model may end with them, but not before it would have finished anyway.
  void take_answer(bool stop, std::uint32_t steps) {
    observer_.answered();
    if (stop) {
      take_stop(steps);
    }
  }

  void take_stop(std::uint32_t steps) {
    stopped_ = stopped_ || steps < tracker_.units().steps();
    tracker_.stop_after(steps);
  }

  bool has_ended() const { return phase_ == task_phase::ended; }
  bool is_pausing() const { return pause_ == pause_phase::saving || pause_ == pause_phase::dropping; }

  bool is_between_steps() const {
    return tracker_.drained() && tracker_.saved_position().begins_step() &&
           tracker_.whole_version() == tracker_.completed_steps();
  }

  /// What was to be done at the end of the step, and came during the evaluation behind it: the next step may be long in
  /// coming, if the controller's answer depends on others that need this model's memory. True if it leaves.
  bool obey_between_steps() {
    if (pause_ == pause_phase::due && tracker_.completed_steps() < tracker_.units().steps()) {
      on_pause_model({});
      return true;
    }
    if (keep_ == keep_phase::wanted) {
      on_keep_model({});
    }
    return false;
  }

  void save_between_steps(std::uint32_t steps) {
    if (pause_ == pause_phase::due && steps < tracker_.units().steps()) {
      on_pause_model({});
      return;
    }
    const auto every = setup_.checkpoints.every_steps;
    if (steps < tracker_.units().steps() && saves_.between_steps(every > 0 && steps % every == 0)) {
      capture();
    }
  }

  void capture() {
    captures_boundaries_ = saves_.leaving() && setup_.what->share.whole();
    if (keep_ != keep_phase::none) {
      keep_ = saves_.saving_best() ? keep_phase::wanted : keep_phase::captured;
    }
    send(setup_.memory, capture_model{setup_.id, captures_boundaries_});
  }

  /// No unit is announced any more; units that compute may complete.
  void leave(const fault& why) {
    saves_.leave(why);
    tracker_.give_up();
    leave_schedule();
    advance();
  }

  /// The scheduler does not know a model that has not arrived, and answers only the SUPERVISOR that none of its units
  /// is on a device.
  void leave_schedule() {
    if (phase_ < task_phase::leaving) {
      phase_ = arrived_ ? task_phase::leaving : task_phase::drained;
      send(setup_.scheduler, model_left{setup_.id});
    }
  }

  model_standing standing() const {
    return {
        .next = tracker_.saved_position(), .losses = results_.open_losses(), .stopped = stopped_, .history = history()};
  }

  const model_history& history() const { return results_.history(); }
  save_point here() const {
    return {tracker_.saved_position(), tracker_.updates(), history().evaluations.size(), stopped_};
  }

  void advance() {
    if (has_ended() || phase_ == task_phase::arriving) {
      return;
    }
    if (saves_.best_now()) {
      capture();
    }
    if (evaluation_open_ && !observer_.owes_answer() && !saves_.holds_best()) {
      tracker_.release_evaluation(*std::exchange(evaluation_open_, {}));
    }
    if (evaluation_open_ && is_between_steps() && obey_between_steps()) {
      return;
    }
    if (phase_ == task_phase::scheduled && tracker_.finished() && !results_.step_is_open() &&
        !observer_.owes_answer()) {  // a callback may still add models
      leave({});
      return;
    }
    const auto action = saves_.next(here(), tracker_.drained() && (phase_ == task_phase::drained || !is_pausing()));
    if (action == save_tracker::action::end) {
      if (pause_ == pause_phase::saving && saves_.unsaved()) {
        stay();
      } else {
        end(saves_.reason(), is_pausing());
      }
      return;
    }
    if (action == save_tracker::action::capture) {
      capture();
    }
    while (const auto range = tracker_.wanted_batch()) {
      send(setup_.data, batch_wanted{setup_.id, *range});
    }
    while (const auto next = tracker_.announce()) {
      send(setup_.scheduler,
           announced_unit(*next, tracker_.units(), setup_.what->remaining_scale, retries_.avoid(next->what)));
    }
  }

  void answer_kept(const fault& why) {
    if (std::exchange(keep_, keep_phase::none) != keep_phase::none) {
      send(setup_.supervisor, model_kept{setup_.id, why});
    }
  }

  void report_step() {
    if (const auto step = results_.take_step()) {
      send(setup_.reporter, *step);
      observer_.see(this, *step);
    }
  }

  /// It was to be paused, but could not be saved.
  void stay() {
    send(setup_.supervisor, pause_failed{setup_.id, saves_.unsaved()});
    pause_ = pause_phase::none;
    phase_ = arrived_ ? task_phase::scheduled : task_phase::arriving;
    saves_.stay();
    tracker_.continue_announcing();
    if (!arrived_) {
      await_arrival();
      return;
    }
    join_schedule();
    if (keep_ != keep_phase::none) {
      on_keep_model({});  // the save that failed had begun before this was asked for
    }
    advance();
  }

  /// Once: the model leaves the schedule; late messages are ignored.
  void end(const fault& why, bool paused = false) {
    if (has_ended() || !setup_.scheduler) {
      phase_ = task_phase::ended;
      return;
    }
    tracker_.give_up();
    answer_kept(paused ? fault{} : why ? why : saves_.unsaved());
    const task_ended message{setup_.id, tracker_.completed_steps(), stopped_, why, saves_.unsaved(), paused};
    leave_schedule();
    phase_ = task_phase::ended;
    send(setup_.reporter, message);
    send(setup_.supervisor, message);
  }

  run_services services_;
  task_setup setup_;
  observer observer_;
  task_tracker tracker_;
  retry_tracker retries_;
  std::map<batch_range, std::size_t> targets_;
  model_results results_;
  bool stopped_ = false;
  save_tracker saves_;
  time_point run_began_{};
  task_phase phase_ = task_phase::arriving;
  pause_phase pause_ = pause_phase::none;
  keep_phase keep_ = keep_phase::none;
  bool arrived_ = false;                       ///< it has joined the schedule
  bool observe_again_ = false;
  std::optional<std::uint32_t> evaluation_open_;   ///< after so many steps: the next step waits for its release
  bool captures_boundaries_ = false;               ///< the capture that is under way, or was the last one
};

}  // namespace

task_actor spawn_model_task(caf::actor_system& system, const run_services& services, const task_setup& setup) {
  return system.spawn<model_task>(services, setup);
}

}  // namespace hydra
