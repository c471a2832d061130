#pragma once
// MEMORY MANAGER: host buffers, leases, versions; decides when a unit is complete.

#include "actors/protocol.hpp"
#include "actors/protocol/run_services.hpp"

namespace hydra {

struct memory_setup {
  scheduler_actor scheduler;
  optimizer_actor optimizer;
  reporter_actor reporter;
  supervisor_actor supervisor;
};
memory_actor spawn_memory_manager(caf::actor_system& system, const run_services& services, const memory_setup& setup);

}  // namespace hydra
