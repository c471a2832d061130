#include "actors/run/controller.hpp"

#include "actors/protocol/guarded.hpp"
#include "actors/protocol/own_thread.hpp"
#include "actors/run/write_retry.hpp"
#include "actors/selection/trial_score.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hydra {

namespace {

std::string step_of(std::uint32_t steps, const std::string& model) {
  return "step " + std::to_string(steps) + " of " + model;
}

// After what callbacks are called.
std::string occasion_of(const step_completed& e) { return step_of(e.done, e.name); }
std::string occasion_of(const evaluation_completed& e) { return step_of(e.done, e.name); }
std::string occasion_of(const run_begun&) { return "the start of the run"; }
std::string occasion_of(const model_joined& e) { return "the start of " + e.name; }
std::string occasion_of(const model_ended& e) { return "the end of " + e.name; }
std::string occasion_of(const model_failed& e) { return "the failure of " + e.name; }
std::string occasion_of(const model_refused& e) { return "the refusal of " + e.name; }
std::string occasion_of(const model_paused& e) { return "the pause of " + e.name; }
std::string occasion_of(const checkpoint_saved& e) { return "a checkpoint of " + e.name; }
std::string occasion_of(const device_lost& e) { return "the loss of device " + e.name; }
std::string occasion_of(const policy_replaced& e) { return "the replacement of policy " + e.policy; }

/// CONTROLLER of the session: calls the user's callbacks and passes on their requests.
class callback_controller final : public controller_actor::base {
 public:
  using super = controller_actor::base;

  callback_controller(caf::actor_config& config, run_services services, callback_set callbacks,
                      supervisor_actor supervisor)
      : super(config),
        services_(std::move(services)),
        trials_(std::move(callbacks.search)),
        retry_(callbacks.record_limit),
        callbacks_(std::move(callbacks.callbacks)),
        supervisor_(std::move(supervisor)) {}

  static constexpr const char* actor_name = "controller";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &callback_controller::on_step_observed),
            guarded(this, &callback_controller::on_evaluation_observed),
            guarded(this, &callback_controller::on_event_observed), guarded(this, &callback_controller::on_trial_left),
            guarded(this, &callback_controller::on_trial_copied), guarded(this, &callback_controller::on_rule_decided),
            guarded(this, &callback_controller::on_record_again), guarded(this, &callback_controller::on_shut_down)};
  }

  void on_exit() override {
    trials_ = trial_gate({});
    waiting_.clear();
    callbacks_ = {};
    supervisor_ = nullptr;
  }

  /// What callbacks and rules throw does not get here.
  void on_fault(const fault& why) {
    send(supervisor_,
         controller_failed{"the actor that calls the callbacks failed after " + reported_ + ": " + why.text});
    quit(caf::exit_reason::unhandled_exception);
  }

 private:
  void on_step_observed(const step_observed& m) {
    began(occasion_of(m.what));
    send(m.task, step_acknowledged{step_index{m.what.done - 1}, stops(m.what)});
    ended();
  }

  void on_evaluation_observed(const evaluation_observed& m) {
    began(occasion_of(m.what));
    const bool stop = stops(m.what);
    const bool is_trial = trials_.has(m.what.name);
    if (is_trial && !stop) {
      hold(m);
    } else {
      if (is_trial) {  // before it is saved: a run that is resumed must not take this for a result
        search([&] { answer(trials_.ended(m.what.name)); });
      }
      send(m.task, evaluation_acknowledged{m.what.done, stop});
    }
    ended();
  }

  void on_event_observed(const event_observed& m) {
    std::visit([this](const auto& what) { see(what); }, m.what);
    send(supervisor_, event_acknowledged{});
  }

  template <class Event>
  void see(const Event& what) {
    remember(what);
    if (!callbacks_.has<Event>()) {
      return;
    }
    began(occasion_of(what));
    const auto wishes = tell(what);
    for (const auto& model : wishes.stopped()) {
      stop(model);
    }
    ended();
  }

  template <class Event>
  void remember(const Event&) {}
  void remember(const run_begun& e) {
    for (std::uint32_t i = 0; i < e.models.size(); ++i) {
      names_[model_id{i}] = e.models[i];
    }
  }
  void remember(const model_joined& e) { names_[e.model] = e.name; }

  /// No task waits for this callback.
  void stop(model_id model) {
    if (const auto known = names_.find(model); known != names_.end()) {
      send(supervisor_, steer_model{known->second, model_command::stop, nullptr, {}});
    } else {
      asked_.push_back(model);
    }
  }

  /// Calls what asks the rule of the search, or its hooks. If they throw, all trials that wait for a decision go on.
  template <class Action>
  void search(const Action& asks) {
    try {
      asks();
    } catch (...) {
      end_search(to_fault(std::current_exception()));
    }
  }

  void end_search(const fault& why) {
    send(supervisor_, callback_failed{"the search failed after " + reported_ + ": " + why.text +
                                      "; it decides nothing any more, all its trials go on"});
    trials_.give_up();
    retry_ = write_retry(retry_.limit());
    for (const auto& [name, waiting] : std::exchange(waiting_, {})) {
      go_on(waiting, false);
    }
  }

  /// Until the rule of the search has decided.
  void hold(const evaluation_observed& m) {
    waiting_[m.what.name] = {m.what.model, m.what.done, m.task};
    const trial_result result{m.what.name, m.what.done, score_of(trials_.metric(), m.what.loss, m.what.accuracy)};
    search([&] {
      answer(trials_.evaluated(result, m.what.model));
      if (trials_.holds(m.what.name)) {
        send(supervisor_, trial_held{m.what.model});
      }
    });
  }

  void answer(const std::vector<trial_answer>& answers) {
    for (const auto& a : answers) {
      if (const auto waiting = waiting_.extract(a.trial)) {
        go_on(waiting.mapped(), a.stop);
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

  /// Trials that went on without their decisions could not be taken back; where they are now, a run that is resumed
  /// decides.
  void halt(const fault& why) {
    const auto text = fmt::format(
        "the decisions of the search could not be recorded for {}: {}; every model is saved: resume "
        "the run when that can be written",
        to_string(retry_.limit()), why.text);
    services_.log->error("{}", text);
    send(supervisor_, run_aborted{{fault_code::io, text}, true});
    retry_.be_patient();  // while models are being saved, it may still succeed
  }

  void on_record_again(const record_again&) {
    if (!trials_.searches()) {
      return;
    }
    retry_.is_due();
    send(supervisor_, callback_began{"decisions of the search"});
    search([&] { answer(trials_.record()); });
    ended();
  }

  struct waiting_trial {
    model_id model;
    std::uint32_t done = 0;
    task_actor task;
  };
  void go_on(const waiting_trial& t, bool stop) {
    send(t.task, evaluation_acknowledged{t.done, stop});
    send(supervisor_, trial_decided{t.model, stop});
  }

  void on_trial_copied(const trial_copied& m) {
    if (trials_.searches()) {
      began("the start of " + m.name);
      search([&] { answer(trials_.begun(m.name, m.joined)); });
      ended();
    }
  }

  void on_rule_decided(const rule_decided& m) {
    if (trials_.searches()) {
      answer(trials_.decided(m.decision));
    }
  }

  void on_trial_left(const trial_left& m) {
    if (trials_.has(m.name)) {
      waiting_.erase(m.name);
      began("the end of " + m.name);
      search([&] { answer(trials_.ended(m.name)); });
      ended();
    }
  }

  void began(std::string what) {
    reported_ = std::move(what);
    send(supervisor_, callback_began{reported_});
  }

  void ended() { send(supervisor_, callback_ended{std::exchange(asked_, {})}); }

  /// True if the model of the event shall stop.
  template <class Event>
  bool stops(const Event& what) {
    const auto wishes = tell(what);
    // A request for another model takes effect at the next step boundary that this model observes.
    for (const auto model : wishes.stopped()) {
      if (stopped_.insert(model).second) {
        asked_.push_back(model);
      }
    }
    return stopped_.contains(what.model);
  }

  /// What the callbacks ask for. One that throws is not called again.
  template <class Event>
  control tell(const Event& what) {
    control wishes;
    std::erase_if(callbacks_.of<Event>(), [&](const auto& call) { return !returns(call, what, wishes); });
    for (const auto& model : wishes.added()) {
      send(supervisor_, add_model{model, nullptr});  // before it is acknowledged: the run cannot end meanwhile
    }
    return wishes;
  }

  /// False if it throws: then it has asked for nothing.
  template <class Event>
  bool returns(const callback_for<Event>& call, const Event& what, control& wishes) {
    auto with_its_own = wishes;
    try {
      call(what, with_its_own);
    } catch (...) {
      const auto why = to_fault(std::current_exception());
      send(supervisor_, callback_failed{"a callback failed after " + occasion_of(what) + ": " + why.text +
                                        "; it is not called any more"});
      return false;
    }
    wishes = std::move(with_its_own);
    return true;
  }

  void on_shut_down(const shut_down&) { quit(); }

  run_services services_;
  trial_gate trials_;
  write_retry retry_;
  std::map<std::string, waiting_trial> waiting_;
  run_callbacks callbacks_;
  supervisor_actor supervisor_;
  std::set<model_id> stopped_;
  std::vector<model_id> asked_;  ///< to stop, by the callback that is under way
  std::map<model_id, std::string> names_;
  std::string reported_ = "the start of the run";   ///< after what callbacks are called, or were called last
};

}  // namespace

controller_actor spawn_controller(caf::actor_system& system, const run_services& services,
                                  callback_set callbacks, const supervisor_actor& supervisor, bool detached) {
  if (!callbacks.wanted().any()) {
    return {};
  }
  return spawn_detached_if<callback_controller>(detached, system, services, std::move(callbacks), supervisor);
}

}  // namespace hydra
