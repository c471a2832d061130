#pragma once
// Prints a plan for people.

#include "actors/admission/compared_forecasts.hpp"
#include "actors/admission/disk_room.hpp"
#include "actors/report/expense_terms.hpp"
#include "actors/simulation/forecast.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/device/device.hpp"

#include <optional>
#include <span>
#include <string>

namespace hydra::apps {

/// Layers and shards of each model (models that cost the same together), then the budgets.
std::string to_table(const workload_plan& plan, std::span<const device_info> devices);

/// What checkpoints need and find; empty if the run saves none.
std::string to_line(const std::optional<disk_room>& room);

/// `overhead`: it was measured.
std::string to_line(const rehearsal_summary& r, bool overhead);
/// Makespan and bounds, and what the run will take.
std::string to_lines(const forecast& f, const run_terms& terms, bool rehearsed);

}  // namespace hydra::apps
