#pragma once
// Runs a scheduling instance with the actors of a real run under virtual time.

#include "actors/policy/policy.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/instance.hpp"

#include <memory>

namespace hydra {

/// By the rule `written_back`: the memory manager decides completion, the optimizer the step boundaries, the device
/// pipeline caches and slots. Noise is drawn by device, so it differs from the loop's. Throws what run_in_loop throws.
simulated_run run_with_actors(const schedule_instance& instance, std::unique_ptr<policy> chosen);

}  // namespace hydra
