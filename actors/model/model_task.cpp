#include "actors/model/model_task.hpp"

#include "actors/protocol/guarded.hpp"
#include "actors/model/retry_tracker.hpp"
#include "actors/checkpoint/save_tracker.hpp"
#include "actors/model/task_tracker.hpp"
#include "partition/graph/dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace hydra {

namespace {

/// Possible causes: before the first update it cannot be the learning rate.
std::string not_finite_text(std::uint32_t step, double loss) {
  const char* const cause =
      step == 1 ? "before any update: look for values that are nan, infinite or very large in the data, and in the weights that "
                  "the model starts with"
                : "the losses before it were finite: lower the learning rate or set clip_norm, or look for nan, infinite or very "
                  "large values in the data";
  return fmt::format("the loss of step {} is {}; {} (on_nan = \"ignore\" continues)", step, loss, cause);
}

/// MODEL TASK: announces the units of one model and keeps its history; what may be announced is decided by
/// task_tracker.
class model_task final : public task_actor::base {
 public:
  using super = task_actor::base;

  model_task(caf::actor_config& config, run_services services, task_setup setup)
      : super(config),
        services_(std::move(services)),
        setup_(std::move(setup)),
        tracker_(units_of(setup_.id, *setup_.what), static_cast<std::uint32_t>(setup_.what->size()),
               setup_.controller && setup_.observed.steps),
        history_(setup_.standing.history),
        saves_(static_cast<bool>(setup_.checkpointer)) {
    tracker_.step_on_device(setup_.what->plan.shards.front().steps_on_device && setup_.what->follows_on_device);
    tracker_.hold_evaluations(observes_evaluations() || setup_.what->keep_best);
    begin_where_it_stopped();
  }

  static constexpr const char* actor_name = "model task";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &model_task::on_begin_run),       guarded(this, &model_task::on_model_arrived),
            guarded(this, &model_task::on_unit_placed),     guarded(this, &model_task::on_unit_lost),
            guarded(this, &model_task::on_shard_completed),
            guarded(this, &model_task::on_shard_updated),   guarded(this, &model_task::on_batch_ready),
            guarded(this, &model_task::on_step_acknowledged), guarded(this, &model_task::on_evaluation_acknowledged),
            guarded(this, &model_task::on_controller_lost), guarded(this, &model_task::on_checkpoint_due),
            guarded(this, &model_task::on_model_captured),  guarded(this, &model_task::on_model_saved),
            guarded(this, &model_task::on_run_aborted),     guarded(this, &model_task::on_report_state),
            guarded(this, &model_task::on_shut_down)};
  }

  void on_exit() override {
    setup_ = {};
    history_ = {};
  }

  void on_fault(const fault& why) {
    services_.log->error("model {} fails: {}", setup_.what ? setup_.what->name : "", why.text);
    end(why);  // it still answers unit_placed: a device must not wait for an execute_shard that is never sent
  }

 private:
  // -- messages --------------------------------------------------------------------------------------------------------

  void on_begin_run(const begin_run& m) {
    run_began_ = m.at;
    const bool goes_on = !setup_.versions.empty();  // it had arrived when it was saved
    const auto arrives = m.at + (goes_on ? duration{} : setup_.what->terms.arrival);
    if (const auto now = clock().now(); arrives > now) {
      delayed_send(this, arrives - now, model_arrived{});
    } else {
      on_model_arrived({});
    }
  }

  void on_model_arrived(const model_arrived&) {
    if (std::exchange(begun_, true)) {
      return;  // it was halted before
    }
    join_schedule();
    if (setup_.checkpointer && setup_.checkpoints.every > duration{}) {
      delayed_send(this, setup_.checkpoints.first, checkpoint_due{});
    }
    if (observe_again_) {
      observe(reported_step(static_cast<std::uint32_t>(history_.losses.size()) - 1));
    }
    if (evaluation_open_) {
      observe_evaluation();
    }
    go_on();
  }

  void join_schedule() {
    const auto& terms = setup_.what->terms;
    const auto deadline = terms.deadline ? std::optional(run_began_ + *terms.deadline) : std::nullopt;
    send(setup_.scheduler, model_added{setup_.id, caf::actor_cast<task_actor>(this), terms.priority, deadline});
  }

  /// In the constructor: an update that was under way may be complete before the run has started.
  void begin_where_it_stopped() {
    const auto& begins = setup_.standing;
    if (setup_.versions.empty()) {
      return;
    }
    const auto reported = static_cast<std::uint32_t>(history_.losses.size());
    stopped_ = begins.stopped;
    if (stopped_) {
      tracker_.stop_after(begins.step);
    }
    const auto first = tracker_.units().position_in(begins.step, begins.unit, history_.evaluated_after(begins.step));
    observe_again_ = observes_steps() && reported == begins.step && reported > 0 && first.index == 0 && !stopped_;
    const bool just_evaluated = begins.unit == 0 && history_.evaluated_after(begins.step) && !tracker_.units().at_end(first);
    if (just_evaluated && !stopped_) {
      evaluation_open_ = begins.step;  // whether it had been acknowledged is not known
    }
    tracker_.begin_at(first, observe_again_ ? reported - 1 : reported, setup_.versions);
    loss_ = begins.loss;
    if (tracker_.completed_steps() > reported) {
      committed_step_ = step_index{reported};  // its norm is not known yet
    }
    saves_.begins_at(here());
  }

  void on_unit_placed(const unit_placed& m) {
    tracker_.placed(m.what, m.device);
    const auto targets = targets_.find(batch_of(m.what));
    send(m.actor, execute_shard{m.what, setup_.what, targets == targets_.end() ? 1 : targets->second});
    go_on();
  }

  void on_unit_lost(const unit_lost& m) {
    if (tracker_.lost(m.what, m.next_attempt) && !saves_.leaving() && !retries_.may_retry(m.what, m.device, m.why.code)) {
      end({m.why.code, fmt::format("{}: {}{}", to_string(m.what), m.why.text, failures_of(m))});
    }
    go_on();
  }

  std::string failures_of(const unit_lost& m) const {
    const auto n = retries_.failures(m.what, m.why.code);
    return n > 1 ? fmt::format(" (it has failed {} times, the last time on device {})", n, m.device.value) : "";
  }

  void on_shard_completed(const shard_completed& m) {
    if (ended_ || !tracker_.completed(m.what)) {
      return;
    }
    const auto speed = m.times.speed;
    tracker_.units().measured(m.what, duration{static_cast<std::int64_t>(static_cast<double>(m.times.compute.count()) * speed)});
    if (has_loss(m.what, setup_.what->size())) {
      m.what.way == direction::evaluate ? on_score(m) : on_loss(m);
    }
    if (ends_step(m.what)) {
      targets_.erase(batch_of(m.what));
      committed_step_ = m.what.step;
      tell_step();
    }
    go_on();
  }

  /// One by one in the order of the micro-batches, because visits complete in order: the sum does not depend on how
  /// many micro-batches a visit has.
  void on_score(const shard_completed& m) {
    const auto targets = targets_.extract(batch_of(m.what));
    evaluated_targets_ += targets.empty() ? 0 : targets.mapped();
    for (const auto& score : m.scores) {
      evaluated_loss_ += double{score.loss};
      evaluated_correct_ += double{score.correct};
    }
    if (m.what.first_micro_batch.value + m.what.micro_batches == setup_.what->plan.evaluation.micro_batches) {
      tell_evaluation(m.what.step.value);
    }
  }

  void tell_evaluation(std::uint32_t steps) {
    const bool simulated = !setup_.what->model;
    const auto targets = static_cast<double>(simulated ? std::size_t{1} : evaluated_targets_);  // without targets: NaN
    evaluation_record result{steps, evaluated_loss_ / targets};
    const bool classes = setup_.what->plan.shards.back().second_spec.type == element::i64;
    if (setup_.what->model && classes && setup_.what->model->objective().counts_correct()) {
      result.accuracy = evaluated_correct_ / targets;
    }
    evaluated_loss_ = evaluated_correct_ = 0;
    evaluated_targets_ = 0;
    history_.evaluations.push_back(result);
    auto message = reported_evaluation();
    message.history.clear();  // the reporter has its own
    send(setup_.reporter, message);
    evaluation_open_ = steps;
    if (setup_.what->keep_best && history_.last_is_best()) {
      saves_.is_best();
    }
    observe_evaluation();
  }

  evaluation_completed reported_evaluation() const {
    const auto& last = history_.evaluations.back();
    return {setup_.id, setup_.what->name, last.steps, last.loss, last.accuracy, history_.evaluations};
  }

  void observe_evaluation() {
    if (observes_evaluations()) {
      send(setup_.controller, evaluation_observed{reported_evaluation(), caf::actor_cast<task_actor>(this)});
      observed_ = true;
    }
  }

  bool observes_steps() const { return setup_.controller && setup_.observed.steps; }
  bool observes_evaluations() const { return setup_.controller && setup_.observed.evaluations; }

  void on_loss(const shard_completed& m) {
    loss_ = m.loss;
    if (!std::isfinite(m.loss) && setup_.what->stop_on_nan) {
      end({fault_code::not_finite, not_finite_text(m.what.step.value + 1, m.loss)});
    }
  }

  void on_shard_updated(const shard_updated& m) {
    if (ended_) {
      return;
    }
    if (m.why) {
      end(m.why);
      return;
    }
    tracker_.version_at_home(m.shard, m.version);
    // Every shard's update has the same norm; only for the first one the step has not been reported yet.
    if (m.grad_norm && committed_step_ && m.version == committed_step_->next()) {
      norm_ = m.grad_norm;
      tell_step();
    }
    if (tracker_.whole_version() == m.version.value) {
      save_between_steps(m.version.value);
    }
    go_on();
  }

  void on_batch_ready(const batch_ready& m) {
    if (m.why) {
      end(m.why);
      return;
    }
    const bool trains = m.range.pass == pass_kind::train;
    targets_[m.range] = trains ? std::max(m.targets, std::size_t{1}) : m.targets;  // a step without any has loss 0
    tracker_.batch_at_home(m.range);
    go_on();
  }

  void on_step_acknowledged(const step_acknowledged& m) {
    if (!setup_.controller) {
      return;  // it was given up: the run continued without this answer
    }
    observed_ = false;
    if (m.stop) {
      stopped_ = m.step.value + 1 < tracker_.units().steps();  // after the last step it has finished anyway
      tracker_.stop_after(m.step.value + 1);
    }
    tracker_.acknowledged(m.step);
    go_on();
  }

  void on_evaluation_acknowledged(const evaluation_acknowledged& m) {
    if (!setup_.controller) {
      return;
    }
    observed_ = false;
    if (m.stop) {
      stopped_ = stopped_ || m.steps < tracker_.units().steps();
      tracker_.stop_after(m.steps);
    }
    go_on();
  }

  void on_controller_lost(const controller_lost&) {
    setup_.controller = nullptr;
    observed_ = false;
    tracker_.unobserved();
    go_on();
  }

  void on_run_aborted(const run_aborted& m) {
    if (!m.save) {
      saves_.give_up(m.why);
    }
    leave(m.why);
  }

  void on_report_state(const report_state& m) {
    auto text = ended_ ? "" : tracker_.describe();
    if (saves_.saving()) {
      text += "a checkpoint is under way\n";
    }
    if (observed_) {
      text += "it waits for the answer of the controller\n";
    }
    send(m.to, state_reported{"model task of " + setup_.what->name, text});
  }

  void on_shut_down(const shut_down&) { quit(); }

  // -- checkpoints -----------------------------------------------------------------------------------------------------

  void on_checkpoint_due(const checkpoint_due&) {
    saves_.is_due();
    delayed_send(this, setup_.checkpoints.every, checkpoint_due{});
  }

  void save_between_steps(std::uint32_t steps) {
    const auto every = setup_.checkpoints.every_steps;
    if (steps < tracker_.units().steps() && saves_.between_steps(every > 0 && steps % every == 0)) {
      capture();
    }
  }

  void capture() { send(setup_.memory, capture_model{setup_.id, saves_.leaving()}); }

  /// The memory manager has sent every completion before this message: the cursor agrees with the memory.
  void on_model_captured(const model_captured& m) {
    if (ended_) {
      *m.memory = {};
      send(setup_.memory, model_saved{setup_.id, {fault_code::cancelled, "the model has ended"}});
      return;
    }
    auto begins = standing();
    if (m.memory->at_step_begin() && m.memory->boundaries.empty()) {
      begins.unit = 0;  // a few visits are repeated, instead of writing boundaries to disk
    }
    saves_.captured(here());
    send(setup_.checkpointer, save_model{setup_.id, setup_.what, m.memory, std::move(begins),
                                         caf::actor_cast<task_actor>(this), saves_.saving_best()});
    go_on();
  }

  void on_model_saved(const model_saved& m) {
    saves_.saved(m.why);
    go_on();
  }

  /// No unit is announced any more; units that compute may complete.
  void leave(const fault& why) {
    saves_.leave(why);
    tracker_.give_up();
    leave_schedule();
    go_on();
  }

  /// The scheduler does not know a model that has not started, but still answers that none of its units is on a device.
  void leave_schedule() {
    begun_ = true;
    if (!std::exchange(left_, true)) {
      send(setup_.scheduler, model_left{setup_.id});
    }
  }

  /// The position of a model that has been evaluated after its last step is past its last unit.
  unit_position place() const {
    const auto p = tracker_.committed();
    return {std::min(p.step, tracker_.units().steps()), tracker_.units().training_unit(p)};
  }

  model_standing standing() const {
    const auto p = place();
    return {.step = p.step, .unit = p.index, .loss = loss_, .stopped = stopped_, .history = history_};
  }

  save_point here() const { return {place(), tracker_.updates(), history_.evaluations.size(), stopped_}; }

  // -- what follows ----------------------------------------------------------------------------------------------------

  void go_on() {
    if (ended_ || !begun_) {
      return;
    }
    if (saves_.best_now()) {
      capture();
    }
    if (evaluation_open_ && !observed_ && !saves_.holds_best()) {
      tracker_.release_evaluation(*std::exchange(evaluation_open_, {}));
    }
    if (!left_ && tracker_.finished() && !norm_pending() && !observed_) {  // a callback may still add models
      leave({});
      return;
    }
    const auto action = saves_.next(here(), tracker_.drained());
    if (action == save_tracker::action::end) {
      end(saves_.reason());
      return;
    }
    if (action == save_tracker::action::capture) {
      capture();
    }
    while (const auto range = tracker_.wanted_batch()) {
      send(setup_.data, batch_wanted{setup_.id, *range});
    }
    if (const auto next = tracker_.announce()) {
      announce(*next);
    }
  }

  void announce(const announcement& next) {
    const auto& units = tracker_.units();
    const auto p = units.position_of(next.what);
    const auto then = units.next(p);
    const bool last = units.at_end(then);
    send(setup_.scheduler,
         unit_ready{next.what, next.after, wall_time(p), units.time_of(p),
                    setup_.what->plan.shards[next.what.shard.value].parameters, retries_.avoid(next.what),
                    boundary_of(next.what), last ? duration{} : wall_time(then), last ? duration{} : units.time_of(then),
                    !last && units.first_of_step(then)});
  }

  /// Remaining wall time: it includes copies that cannot be hidden.
  duration wall_time(unit_position p) const {
    const auto compute = static_cast<double>(tracker_.units().remaining(p).count());
    return duration{std::llround(compute * setup_.what->remaining_scale)};
  }

  /// The output of its predecessor, of all micro-batches.
  byte_count boundary_of(const unit& u) const {
    const auto& shard = setup_.what->plan.shards[u.shard.value];
    const bool last = u.shard.value + 1 == setup_.what->size();
    const auto one = u.way == direction::backward && !last ? shard.output : u.shard.value == 0 ? byte_count{} : shard.input;
    return one * u.micro_batches;
  }

  bool clips() const { return setup_.what->update.clip_norm > 0; }
  bool norm_pending() const { return committed_step_.has_value(); }

  /// Loss and norm of a step exist when its last unit has committed and, with clipping, its norm is known.
  void tell_step() {
    if (!committed_step_ || (clips() && !norm_)) {
      return;
    }
    history_.losses.push_back(loss_.value_or(0.0F));
    if (clips()) {
      history_.grad_norms.push_back(*norm_);
    }
    const auto message = reported_step(committed_step_->value);
    committed_step_.reset();
    norm_.reset();
    loss_.reset();
    send(setup_.reporter, message);
    observe(message);
  }

  step_completed reported_step(std::uint32_t step) const {
    return {setup_.id, setup_.what->name, step_index{step}, setup_.what->steps, history_.losses[step],
            clips() ? history_.grad_norms[step] : 0.0F};
  }

  void observe(const step_completed& what) {
    if (observes_steps()) {
      send(setup_.controller, step_observed{what, caf::actor_cast<task_actor>(this)});
      observed_ = true;
    }
  }

  /// Once: the model leaves the schedule; late messages are ignored.
  void end(const fault& why) {
    if (std::exchange(ended_, true) || !setup_.scheduler) {
      return;
    }
    tracker_.give_up();
    const model_ended message{setup_.id, tracker_.completed_steps(), stopped_, why, saves_.unsaved()};
    leave_schedule();
    send(setup_.reporter, message);
    send(setup_.supervisor, message);
  }

  run_services services_;
  task_setup setup_;
  task_tracker tracker_;
  retry_tracker retries_;
  std::map<batch_range, std::size_t> targets_;
  double evaluated_loss_ = 0;                  ///< of the evaluation that is under way
  double evaluated_correct_ = 0;
  std::size_t evaluated_targets_ = 0;
  model_history history_;
  std::optional<float> loss_;                  ///< of the step that has not been reported yet
  std::optional<float> norm_;
  std::optional<step_index> committed_step_;   ///< its step_completed has not been sent yet
  bool observed_ = false;                      ///< sent and not acknowledged
  bool stopped_ = false;
  save_tracker saves_;
  time_point run_began_{};
  bool begun_ = false;                         ///< it has arrived, or was halted before
  bool observe_again_ = false;
  std::optional<std::uint32_t> evaluation_open_;   ///< after so many steps: the next step waits for its release
  bool left_ = false;                          ///< has left the schedule
  bool ended_ = false;
};

}  // namespace

task_actor spawn_model_task(caf::actor_system& system, const run_services& services, const task_setup& setup) {
  return system.spawn<model_task>(services, setup);
}

}  // namespace hydra
