#pragma once
// OPTIMIZER: updates parameters as gradients arrive in host memory.

#include "actors/protocol.hpp"
#include "actors/protocol/run_services.hpp"

namespace hydra {

optimizer_actor spawn_optimizer(caf::actor_system& system, const run_services& services);

}  // namespace hydra
