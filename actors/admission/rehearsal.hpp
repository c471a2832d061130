#pragma once
// The first steps of a workload, trained to know how long its units take among everything else that a run does.

#include "actors/admission/compared_forecasts.hpp"
#include "actors/admission/prediction.hpp"
#include "actors/simulation/recorded_times.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/trace/trace.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hydra {

struct rehearsal {
  rehearsal_summary summary;
  std::shared_ptr<recorded_times> times;  ///< without the first step of each model, which is slower
};

/// The part of a workload that is rehearsed: its first steps; in an evaluation every shard has one visit of each lane.
planned_workload first_steps(planned_workload planned, std::uint32_t steps);
/// The models as in that part, all of them there from the start.
std::vector<model_description> first_steps(std::vector<model_description> models, const planned_workload& part);

/// From the spans of such a part and its makespan.
rehearsal rehearsed_by(std::span<const span> spans, duration makespan, const planned_run& part);

/// Its shards take the mean times of the rehearsal.
planned_run with_times_of(const rehearsal& r, planned_run run);

/// Operations take the times of the rehearsal, or the means of their kinds; to the makespan its overhead over the time
/// in which devices work is added.
forecast predict_by(const rehearsal& r, forecast_setup setup);

}  // namespace hydra
