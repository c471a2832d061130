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

/// How plans are predicted.
struct prediction_setup {
  std::vector<device_info> devices;  ///< with the rates of their links
  std::function<std::unique_ptr<policy>()> make_policy;
  pipeline_options pipeline;  ///< its staging bytes are those of each plan
  int optimizer_workers = 1;
};

/// Everything but the policy.
forecast_setup forecast_of_plan(const planned_workload& planned, const planning_setup& from,
                                const prediction_setup& how);

/// Of a plan as it is, by each of these policies instead of make_policy. By the times of the pilot, or of a rehearsal
/// (null: there was none).
std::vector<forecast> predict(const planned_workload& planned, const planning_setup& from, const prediction_setup& how,
                              std::vector<std::unique_ptr<policy>> policies, const rehearsal* rehearsed = nullptr);

}  // namespace hydra
