#pragma once
// What other settings would bring: the same models, measured once, planned and predicted again.

#include "actors/admission/compared_forecasts.hpp"
#include "actors/admission/prediction.hpp"

#include <optional>
#include <span>
#include <vector>

namespace hydra {

/// Of those choices that fit the budgets, each plan once; the first one is that of the plan as it is. Each is simulated
/// with fewer steps than predict() takes. The first one alone where updates are made on devices, which needs whole
/// steps.
std::vector<parallel_forecast> compare_parallel(const planned_run& run, std::span<const parallel_choice> choices);

/// The plan as it is, then with devices that have so many times the memory, until nothing is computed again. Where
/// loads are slow: with as many shards as now or more. Shortened like those. Empty where nothing can be saved.
std::vector<memory_forecast> compare_memory(const planned_run& run, std::span<const double> times);

/// The one of finer_choices() with which the simulated run is shorter by more than 2 %, with as many staged units as it
/// takes where all models have one lane. None: the plan as it is, or several staged units cannot pay, models wait for
/// host memory, or the run cannot be simulated.
std::optional<parallel_choice> choose_shards(const planned_run& run);

/// The fastest one; of those that are hardly slower (2 %) the first.
const parallel_forecast& fastest(std::span<const parallel_forecast> ways);

/// A way for each model. Models that cost the same and have the same choices form a group. Beginning with the fastest
/// of `ways`, which compare_parallel() has returned, each group gets another of these ways if the simulated run is
/// shorter then by more than 2 %; groups with the most work come first, and each tries a limited number, the faster
/// ones first: the same times give the same choice.
parallel_choice choose_for_each(const planned_run& run, std::span<const parallel_forecast> ways);

}  // namespace hydra
