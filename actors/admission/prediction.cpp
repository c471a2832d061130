#include "actors/admission/prediction.hpp"

#include "actors/admission/loaded_model.hpp"
#include "actors/admission/rehearsal.hpp"

#include <utility>

namespace hydra {

forecast_setup forecast_of_plan(const planned_workload& planned, const planning_setup& from,
                                const prediction_setup& how) {
  forecast_setup setup{.devices = how.devices,
                       .models = {},
                       .chosen = {},
                       .pipeline = how.pipeline,
                       .optimizer_workers = how.optimizer_workers};
  setup.waiting = planned.plan.waiting;
  setup.host_memory = planned.host_cap;
  setup.pipeline.staging_bytes = planned.plan.staging_bytes;
  setup.pipeline.computing_bytes = planned.plan.computing_bytes;
  for (std::size_t i = 0; i < from.models.size(); ++i) {
    setup.models.push_back(cut_model(from.models[i], planned.prepared[i], planned.plan.models[i], from.options.seed));
  }
  return setup;
}

std::vector<forecast> predict(const planned_workload& planned, const planning_setup& from, const prediction_setup& how,
                              std::vector<std::unique_ptr<policy>> policies, const rehearsal* rehearsed) {
  const auto all = forecast_of_plan(rehearsed ? with_times_of(*rehearsed, planned) : planned, from, how);
  std::vector<forecast> forecasts;
  for (auto& p : policies) {
    forecast_setup setup{.devices = all.devices,
                         .models = all.models,
                         .waiting = all.waiting,
                         .host_memory = all.host_memory,
                         .chosen = std::move(p),
                         .pipeline = all.pipeline,
                         .optimizer_workers = all.optimizer_workers};
    forecasts.push_back(rehearsed ? predict_by(*rehearsed, std::move(setup)) : predict(std::move(setup)));
  }
  return forecasts;
}

}  // namespace hydra
