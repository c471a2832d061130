#pragma once
// The factor that a pilot would measure: wall time of a model alone / its compute time.

#include "actors/simulation/instance.hpp"

namespace hydra {

/// Sets remaining_scale of all models: wall time of the model alone on the instance's fastest device, which prefetches
/// and drops clean parameters free of charge, / its compute time there; to four decimals, at least 1.
void measure_scales(schedule_instance& instance);

}  // namespace hydra
