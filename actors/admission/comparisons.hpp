#pragma once
// What other settings would bring: the same models, measured once, planned and predicted again.

#include "actors/admission/compared_forecasts.hpp"
#include "actors/admission/planned_workload.hpp"
#include "actors/device/pipeline_options.hpp"
#include "actors/policy/policy.hpp"
#include "runtime/device/device.hpp"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace hydra {

/// How plans are predicted.
struct prediction_setup {
  std::vector<device_info> devices;                     ///< with the rates of their links
  std::function<std::unique_ptr<policy>()> make_policy;
  pipeline_options pipeline;                            ///< its staging bytes are those of each plan
  int optimizer_workers = 1;
};

/// Of a plan as it is, by each of these policies instead of make_policy.
std::vector<forecast> predict(const planned_workload& planned, const planning_setup& from, const prediction_setup& how,
                              std::vector<std::unique_ptr<policy>> policies);

/// Of those choices that fit the budgets; the first one is that of the plan. Each is simulated with fewer steps than
/// predict() takes. The first one alone where updates are made on devices, which needs whole steps.
std::vector<parallel_forecast> compare_parallel(const planned_workload& planned, const planning_setup& from,
                                                const prediction_setup& how, std::span<const parallel_choice> choices);

/// The plan as it is, then with devices that have so many times the memory, until nothing is computed again. Shortened like
/// those. Empty where nothing can be saved.
std::vector<memory_forecast> compare_memory(const planned_workload& planned, const planning_setup& from,
                                            const prediction_setup& how, std::span<const double> times);

/// The fastest one; of those that are hardly slower (2 %) the first.
const parallel_forecast& fastest(std::span<const parallel_forecast> ways);

}  // namespace hydra
