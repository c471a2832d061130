#pragma once
// The expected times of a planned workload.

#include "actors/admission/planned_workload.hpp"
#include "actors/device/pipeline_options.hpp"
#include "actors/policy/policy.hpp"
#include "actors/simulation/predict.hpp"
#include "runtime/device/device.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace hydra {

struct rehearsal;

/// A workload as it is planned, and how it is predicted.
struct planned_run {
  planned_workload planned;
  planning_setup from;
  std::vector<device_info> devices;  ///< with the rates of their links
  std::function<std::unique_ptr<policy>()> make_policy;
  int optimizer_workers = 1;
  std::uint32_t most_staged_units = 1;  ///< that the policy uses; 1 where no link is crossed
  const rehearsal* rehearsed = nullptr;  ///< whose times predict() takes; null: those of the pilot
};

pipeline_options pipeline_of(const workload_plan& plan, const ablation_options& parts);

/// Those of `planned` staged units that the policy uses.
std::uint32_t slots_for(const policy& p, std::uint32_t planned);

/// By the times of the pilot; everything but the policy.
forecast_setup forecast_of_plan(const planned_run& run);

forecast predict(const planned_run& run, std::unique_ptr<policy> by);

/// By its own policy and the times of the pilot, with fewer steps: for comparisons, which take several.
forecast predict_shortly(const planned_run& run);

}  // namespace hydra
