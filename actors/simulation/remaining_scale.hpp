#pragma once
// What a pilot would measure: how much longer a model takes alone than it computes.

#include "actors/simulation/instance.hpp"

#include <cstddef>

namespace hydra {

/// Wall time of the model alone on the instance's fastest device, which prefetches and drops clean parameters free of
/// charge, / its compute time there; to four decimals. At least 1.
double measured_scale(const schedule_instance& instance, std::size_t model);

/// Sets remaining_scale of all models.
void measure_scales(schedule_instance& instance);

}  // namespace hydra
