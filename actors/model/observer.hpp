#pragma once
// The CONTROLLER as a MODEL TASK sees it: which events it wants, and whether an answer is due.

#include "actors/protocol/events.hpp"
#include "actors/protocol/interfaces.hpp"
#include "actors/protocol/observation.hpp"

#include <utility>

namespace hydra {

class observer {
 public:
  /// `to` is null if nothing is observed.
  observer(controller_actor to, observations wanted) : to_(std::move(to)), wanted_(wanted) {}

  bool there() const { return static_cast<bool>(to_); }
  bool wants_steps() const { return there() && wanted_.steps; }
  bool wants_evaluations() const { return there() && wanted_.evaluations; }
  /// An event was sent and is not answered yet.
  bool owes_answer() const noexcept { return owes_answer_; }

  /// Sends what it wants to see on behalf of `task`.
  template <class Task>
  void see(Task* task, const step_completed& what) {
    if (wants_steps()) {
      task->send(to_, step_observed{what, caf::actor_cast<task_actor>(task)});
      owes_answer_ = true;
    }
  }
  template <class Task>
  void see(Task* task, const evaluation_completed& what) {
    if (wants_evaluations()) {
      task->send(to_, evaluation_observed{what, caf::actor_cast<task_actor>(task)});
      owes_answer_ = true;
    }
  }

  void answered() noexcept { owes_answer_ = false; }
  void lost() {
    to_ = nullptr;
    owes_answer_ = false;
  }

 private:
  controller_actor to_;
  observations wanted_;
  bool owes_answer_ = false;
};

}  // namespace hydra
