#pragma once
// What has stopped the models of a run before their last step.

#include "actors/report/report.hpp"
#include "apps/workload/value.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

/// Sets the reasons of stopped models: those in `by_command` were stopped by a person; the others by the first
/// [[controller]] of the workload that their evaluations have brought to it. A callback of a program is not known.
void explain_stops(report& r, const value_table& workload, const std::vector<std::string>& by_command);

}  // namespace hydra::apps
