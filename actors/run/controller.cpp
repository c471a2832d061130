#include "actors/run/controller.hpp"

#include "actors/protocol/guarded.hpp"
#include "actors/protocol/own_thread.hpp"
#include "actors/run/write_retry.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// CONTROLLER of the session: calls the user's callbacks and sends their requests to the task.
class callback_controller final : public controller_actor::base {
 public:
  using super = controller_actor::base;

  callback_controller(caf::actor_config& config, run_services services, callback_set callbacks,
                      supervisor_actor supervisor)
      : super(config),
        services_(std::move(services)),
        trials_(std::move(callbacks.search)),
        retry_(callbacks.record_limit),
        callbacks_(std::move(callbacks)),
        supervisor_(std::move(supervisor)) {}

  static constexpr const char* actor_name = "controller";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &callback_controller::on_step_observed),
            guarded(this, &callback_controller::on_evaluation_observed),
            guarded(this, &callback_controller::on_trial_left), guarded(this, &callback_controller::on_trial_copied),
            guarded(this, &callback_controller::on_record_again), guarded(this, &callback_controller::on_shut_down)};
  }

  void on_exit() override {
    trials_ = trial_gate({});
    tasks_.clear();
    callbacks_ = {};
    supervisor_ = nullptr;
  }

  void on_fault(const fault& why) {
    send(supervisor_, controller_failed{"a callback failed after " + reported_ + ": " + why.text});
    quit(caf::exit_reason::unhandled_exception);
  }

 private:
  void on_step_observed(const step_observed& m) {
    began(step_of(m.what.done, m.what.name));
    send(m.task, step_acknowledged{step_index{m.what.done - 1}, tell(callbacks_.steps, m.what)});
    ended();
  }

  void on_evaluation_observed(const evaluation_observed& m) {
    began(step_of(m.what.done, m.what.name));
    const bool stop = tell(callbacks_.evaluations, m.what);
    const bool is_trial = trials_.has(m.what.name);
    if (is_trial && !stop) {
      hold(m);
    } else {
      if (is_trial) {
        answer(trials_.ended(m.what.name));  // before it is saved: a run that is resumed must not take this for a result
      }
      send(m.task, evaluation_acknowledged{m.what.done, stop});
    }
    ended();
  }

  /// Until the rule of the search has decided.
  void hold(const evaluation_observed& m) {
    tasks_[m.what.name] = m.task;
    answer(trials_.evaluated(m.what));
    if (trials_.holds(m.what.name)) {
      send(supervisor_, trial_held{m.what.model});
    }
  }

  void answer(const std::vector<trial_answer>& answers) {
    for (const auto& a : answers) {
      if (a.copies.empty()) {
        answer(a);
      } else {
        begin_copies(a);
      }
    }
    watch_record();
  }

  /// What cannot be recorded is not carried out. It is tried again with the next event of the search, or after a while.
  void watch_record() {
    const auto now = clock().now();
    const auto& why = trials_.unrecorded();
    if (!why) {
      if (retry_.succeeded()) {
        services_.log->warn("the decisions of the search can be recorded again");
      }
      return;
    }
    if (retry_.failed(now)) {
      services_.log->warn("trials wait until the decisions of the search can be recorded: {}", why.text);
    }
    if (retry_.is_over(now)) {
      halt(why);
    } else if (const auto wait = retry_.next_try(now)) {
      caf::delayed_anon_send(supervisor_, *wait, record_again{});
    }
  }

  /// Trials that went on without their decisions could not be taken back; where they are now, a run that is resumed decides.
  void halt(const fault& why) {
    const auto text = fmt::format("the decisions of the search could not be recorded for {}: {}; every model is saved: resume "
                                  "the run when that can be written",
                                  to_string(retry_.limit()), why.text);
    services_.log->error("{}", text);
    send(supervisor_, run_aborted{{fault_code::io, text}, true});
  }

  void on_record_again(const record_again&) {
    retry_.is_due();
    answer(trials_.record());
  }

  void answer(const trial_answer& a) {
    if (const auto task = tasks_.extract(a.trial)) {
      send(task.mapped(), evaluation_acknowledged{a.steps, a.stop});
      send(supervisor_, trial_decided{a.model, a.stop});
    }
  }

  /// The trial keeps its state until they have begun: a run that is resumed before that asks again.
  void begin_copies(const trial_answer& a) {
    if (tasks_.contains(a.trial)) {
      copied_.insert_or_assign(a.trial, copied_trial{a, {}});
      send(supervisor_, trial_held{a.model});
    }
    for (const auto& c : a.copies) {
      if (tasks_.contains(a.trial)) {
        copied_.at(a.trial).to_begin.insert(c.trial);
      }
      trials_.hooks().copy(c);
    }
  }

  void on_trial_copied(const trial_copied& m) {
    trials_.begun(m.name);
    if (!m.joined) {
      answer(trials_.ended(m.name));
    }
    for (auto of = copied_.begin(); of != copied_.end();) {
      const bool begun = of->second.to_begin.erase(m.name) > 0 && of->second.to_begin.empty();
      if (begun) {
        answer(of->second.answer);
      }
      of = begun ? copied_.erase(of) : std::next(of);
    }
  }

  void on_trial_left(const trial_left& m) {
    if (trials_.has(m.name)) {
      tasks_.erase(m.name);
      copied_.erase(m.name);
      answer(trials_.ended(m.name));
    }
  }

  void began(std::string what) {
    reported_ = std::move(what);
    send(supervisor_, callback_began{reported_});
  }

  void ended() { send(supervisor_, callback_ended{std::exchange(asked_, {})}); }

  static std::string step_of(std::uint32_t steps, const std::string& model) {
    return "step " + std::to_string(steps) + " of " + model;
  }

  /// True if the model of the event shall stop.
  template <class Callback, class Event>
  bool tell(const std::vector<Callback>& callbacks, const Event& what) {
    control wishes;
    for (const auto& call : callbacks) {
      call(what, wishes);
    }
    for (const auto& model : wishes.added()) {
      send(supervisor_, add_model{model, nullptr});  // before it is acknowledged: the run cannot end meanwhile
    }
    // A request for another model takes effect at the next step boundary that this model observes.
    for (const auto model : wishes.stopped()) {
      if (stopped_.insert(model).second) {
        asked_.push_back(model);
      }
    }
    return stopped_.contains(what.model);
  }

  void on_shut_down(const shut_down&) { quit(); }

  run_services services_;
  trial_gate trials_;
  write_retry retry_;
  std::map<std::string, task_actor> tasks_;  ///< of trials that wait
  struct copied_trial {
    trial_answer answer;
    std::set<std::string> to_begin;
  };
  std::map<std::string, copied_trial> copied_;  ///< trials that wait until copies of them have begun
  callback_set callbacks_;
  supervisor_actor supervisor_;
  std::set<model_id> stopped_;
  std::vector<model_id> asked_;  ///< of them, by the callback that is under way
  std::string reported_;   ///< the step after which callbacks are called, or were called last
};

}  // namespace

controller_actor spawn_controller(caf::actor_system& system, const run_services& services,
                                  callback_set callbacks, const supervisor_actor& supervisor, bool detached) {
  if (!callbacks.wanted().steps && !callbacks.wanted().evaluations) {
    return {};
  }
  if (detached) {
    return spawn_on_own_thread<callback_controller>(system, services, std::move(callbacks), supervisor);
  }
  return system.spawn<callback_controller>(services, std::move(callbacks), supervisor);
}

}  // namespace hydra
