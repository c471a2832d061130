#pragma once
// Hosts the policy actor of a session in an actor system of its own: an actor that hangs blocks that system, not the
// run.

#include "actors/plugin/policy_actor.hpp"

#include <memory>

namespace hydra {

class policy_host {
 public:
  /// Starts the actor. Throws fault_error{bad_input} if there is none, or no thread for what is between it and the run.
  explicit policy_host(std::shared_ptr<const policy_actor_source> source);
  ~policy_host();
  policy_host(const policy_host&) = delete;
  policy_host& operator=(const policy_host&) = delete;

  /// Gives SCHEDULER a relay that forwards the messages of both sides. When the run ends the relay, it ends the actor.
  std::shared_ptr<const policy_actor_source> source() const { return relayed_; }

  /// To be called after the run. False: an actor has not ended within the limit, or no thread could wait for it; its
  /// system is leaked.
  bool retire(duration limit);

 private:
  struct state;
  std::unique_ptr<state> state_;  ///< null once retired
  std::shared_ptr<const policy_actor_source> relayed_;
};

}  // namespace hydra
