#include "actors/admission/prediction.hpp"

#include "actors/admission/loaded_model.hpp"
#include "actors/admission/rehearsal.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

pipeline_options pipeline_of(const workload_plan& plan, const ablation_options& parts) {
  return {.slots = plan.staged_units,
          .double_buffer = parts.double_buffer,
          .cache = parts.cache,
          .copy_back_clean = parts.copy_back_clean,
          .save = parts.save,
          .staging_bytes = plan.staging_bytes,
          .computing_bytes = plan.computing_bytes,
          .write_back_bytes = plan.write_back_bytes()};
}

std::uint32_t slots_for(const policy& p, std::uint32_t planned) { return std::min(planned, std::max(p.depth(), 1u)); }

forecast_setup forecast_of_plan(const planned_run& run) {
  const auto& from = run.from;
  const auto& planned = run.planned;
  forecast_setup setup{.devices = run.devices,
                       .models = {},
                       .waiting = planned.plan.waiting,
                       .host_memory = planned.host_cap,
                       .chosen = {},
                       .pipeline = pipeline_of(planned.plan, from.options.ablation),
                       .optimizer_workers = run.optimizer_workers};
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

forecast predict_shortly(const planned_run& run) {
  constexpr std::uint64_t most_units = 4000;  // enough for the shape of a schedule
  auto setup = forecast_of_plan(run);
  setup.chosen = run.make_policy();
  setup.most_units = most_units;
  return predict(std::move(setup));
}

}  // namespace hydra
