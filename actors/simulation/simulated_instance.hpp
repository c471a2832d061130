#pragma once
// A scheduling instance run by the actors of a real run under virtual time.

#include "actors/policy/policy.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/instance.hpp"

#include <memory>

namespace hydra {

/// Rules `landed`: completion is the memory manager's, a step's turn the optimizer's, caches and slots the device
/// pipeline's. Noise is drawn by device, so it is another one than the loop's. Throws what run_in_loop throws.
simulated_run run_with_actors(const schedule_instance& instance, std::unique_ptr<policy> chosen);

}  // namespace hydra
