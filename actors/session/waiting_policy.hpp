#pragma once
// A policy actor in a simulation.

#include "actors/policy/policy.hpp"
#include "actors/policy/policy_limits.hpp"

#include <memory>

namespace hydra {

struct policy_actor_source;

/// A policy that waits for the answers of that actor, which are those of a run in which no decision takes time. Its
/// choose() throws fault_error{internal} if the actor has not answered within the limit, or names no candidate. Throws
/// fault_error{bad_input} if there is no actor.
std::unique_ptr<policy> make_waiting_policy(std::shared_ptr<const policy_actor_source> source,
                                            duration limit = policy_limits{}.advice);

}  // namespace hydra
