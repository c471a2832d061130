#pragma once
// Where the policy actor of a session lives: in an actor system of its own, which a hanging actor keeps, not the run.

#include "actors/plugin/policy_actor.hpp"

#include <memory>

namespace hydra {

class policy_host {
 public:
  /// Starts the actor. Throws fault_error{bad_input} if there is none.
  explicit policy_host(std::shared_ptr<const policy_actor_source> source);
  ~policy_host();
  policy_host(const policy_host&) = delete;
  policy_host& operator=(const policy_host&) = delete;

  /// Gives SCHEDULER somebody who passes on what both sides say. When the run ends him, he ends the actor.
  std::shared_ptr<const policy_actor_source> source() const { return relayed_; }

  /// Once the run is over. False: an actor in it has not ended within the limit; its system is left behind.
  bool retire(duration limit);

 private:
  struct state;
  std::unique_ptr<state> state_;  ///< null once retired
  std::shared_ptr<const policy_actor_source> relayed_;
};

}  // namespace hydra
