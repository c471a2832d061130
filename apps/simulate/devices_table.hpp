#pragma once
// What a workload would take on each choice of its devices, as a table and as JSON.

#include "actors/admission/device_choice.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace hydra::apps {

/// The best by the goal first, those that are too late and those that do not fit behind. Empty if there is one choice.
/// `currency`: of costs; may be empty.
std::string to_table(const device_choices& choices, const run_goal& goal, const std::string& currency);

/// In the same order: [{"devices", "counts", "makespan_s", "bound_s", "device_s", "cost", "least_cost", "joules",
/// "least_joules", "in_time"}], or {"devices", "counts", "refused"}.
nlohmann::ordered_json devices_json(const device_choices& choices, const run_goal& goal);

}  // namespace hydra::apps
