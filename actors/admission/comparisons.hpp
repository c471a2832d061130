#pragma once
// What other settings would bring: the same models, measured once, planned and predicted again.

#include "actors/admission/compared_forecasts.hpp"
#include "actors/admission/prediction.hpp"

#include <span>
#include <vector>

namespace hydra {

/// Of those choices that fit the budgets; the first one is that of the plan. Each is simulated with fewer steps than
/// predict() takes. The first one alone where updates are made on devices, which needs whole steps.
std::vector<parallel_forecast> compare_parallel(const planned_run& run, std::span<const parallel_choice> choices);

/// The plan as it is, then with devices that have so many times the memory, until nothing is computed again. Shortened
/// like those. Empty where nothing can be saved.
std::vector<memory_forecast> compare_memory(const planned_run& run, std::span<const double> times);

/// The fastest one; of those that are hardly slower (2 %) the first.
const parallel_forecast& fastest(std::span<const parallel_forecast> ways);

}  // namespace hydra
