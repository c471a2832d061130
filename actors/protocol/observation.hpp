#pragma once
// A user's callbacks: MODEL TASK, CONTROLLER and SUPERVISOR ("callbacks and searches" in protocol.hpp).

#include "actors/protocol/events.hpp"
#include "actors/protocol/interfaces.hpp"
#include "actors/selection/search_rule.hpp"
#include "runtime/base/ids.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra {

/// To the CONTROLLER: `what` has happened; the task waits for step_acknowledged before its next step.
struct step_observed {
  step_completed what;
  task_actor task;
};

struct step_acknowledged {
  step_index step;
  bool stop = false;
};

/// The same of an evaluation, which comes after its step has been acknowledged.
struct evaluation_observed {
  evaluation_completed what;
  task_actor task;
};

struct evaluation_acknowledged {
  std::uint32_t steps = 0;         ///< complete before the evaluation
  bool stop = false;
};

/// Any other event, from the SUPERVISOR: the run does not end before it is acknowledged, because a callback may add
/// models.
struct event_observed {
  run_event what;
};

struct event_acknowledged {};

/// The CONTROLLER is about to call a user's callbacks: the SUPERVISOR checks that they return in time.
struct callback_began {
  std::string what;                ///< "step 3 of gpt-a"
};

/// `stops`: the models that it has asked to stop, each once in a run.
struct callback_ended {
  std::vector<model_id> stops{};
};

/// To the REPORTER: what a callback has asked for is impossible; a note says so.
struct wish_refused {
  std::string why;
};

/// Timer of the SUPERVISOR while the CONTROLLER is in a callback.
struct check_controller {};

/// Timer of the SUPERVISOR: trials that could not be saved to give their memory to others may be saved now.
struct make_room_again {};

/// A trial of a search waits for its decision: it needs no memory meanwhile.
struct trial_held {
  model_id model;
};
struct trial_decided {
  model_id model;
  bool stop = false;
};

/// To the SUPERVISOR, from whoever begins copies of trials, and on to the CONTROLLER: one has joined the run, or
/// cannot.
struct trial_copied {
  std::string name;
  bool joined = true;
};

/// To the SUPERVISOR, and on to the CONTROLLER: what the rule of the search did not decide at once.
struct rule_decided {
  trial_decision decision;
};

/// Timer of the CONTROLLER while decisions of the search cannot be recorded. By way of the SUPERVISOR: a message that
/// waits for an actor with a thread of its own keeps that thread.
struct record_again {};

/// To the CONTROLLER: a model has ended before its last step, failed or stopped.
struct trial_left {
  std::string name;
};

/// From the CONTROLLER, and on to the REPORTER: a callback, or the rule of a search, has thrown and is not called any
/// more; the others are. `why` is a sentence that says after which event.
struct callback_failed {
  std::string why;
};

/// The CONTROLLER itself has failed. `why` says after which event.
struct controller_failed {
  std::string why;
};

/// There is no CONTROLLER any more: do not wait for it; later steps are not observed.
struct controller_lost {
  std::string why;
};

}  // namespace hydra
