#include "actors/admission/prediction.hpp"

#include "actors/admission/loaded_model.hpp"
#include "actors/admission/rehearsal.hpp"

#include <utility>

namespace hydra {

forecast_setup forecast_of_plan(const planned_run& run) {
  const auto& from = run.from;
  const auto& planned = run.planned;
  forecast_setup setup{.devices = run.devices,
                       .models = {},
                       .waiting = planned.plan.waiting,
                       .host_memory = planned.host_cap,
                       .chosen = {},
                       .pipeline = run.pipeline,
                       .optimizer_workers = run.optimizer_workers};
  setup.pipeline.staging_bytes = planned.plan.staging_bytes;
  setup.pipeline.computing_bytes = planned.plan.computing_bytes;
  setup.pipeline.write_back_bytes = planned.plan.write_back_bytes();
  for (std::size_t i = 0; i < from.models.size(); ++i) {
    setup.models.push_back(cut_model(from.models[i], planned.prepared[i], planned.plan.models[i], from.options.seed));
  }
  return setup;
}

forecast predict(const planned_run& run, std::unique_ptr<policy> by) {
  auto setup = forecast_of_plan(run.rehearsed ? with_times_of(*run.rehearsed, run) : run);
  setup.chosen = std::move(by);
  return run.rehearsed ? predict_by(*run.rehearsed, std::move(setup)) : predict(std::move(setup));
}

}  // namespace hydra
