#pragma once
// DATA: minibatches, read ahead of need.

#include "actors/protocol.hpp"
#include "actors/protocol/model_entry.hpp"
#include "actors/protocol/run_services.hpp"

#include <vector>

namespace hydra {

/// `detached`: on a thread of its own, because reading blocks.
data_actor spawn_data(caf::actor_system& system, const run_services& services, const std::vector<model_entry>& models,
                      const memory_actor& memory, bool detached);

}  // namespace hydra
