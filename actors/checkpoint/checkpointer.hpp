#pragma once
// CHECKPOINTER: saves models.

#include "actors/protocol.hpp"
#include "actors/protocol/run_services.hpp"

namespace hydra {

struct checkpointer_setup {
  checkpoint_store* store = nullptr;
  memory_actor memory;
  optimizer_actor optimizer;
  reporter_actor reporter;
  supervisor_actor observer{};  ///< learns of each checkpoint that is saved; may be null
};
/// Null without a store. `detached`: on a thread of its own, because writing blocks.
checkpoint_actor spawn_checkpointer(caf::actor_system& system, const run_services& services,
                                    const checkpointer_setup& setup, bool detached);

}  // namespace hydra
