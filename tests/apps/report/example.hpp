#pragma once
// A recorded run to show.

#include "apps/run_folder/recorded_run.hpp"

#include <string>

namespace hydra::apps {

/// What a run of two models on one device writes, with everything that a report may hold.
extern const std::string full_report;

/// What an interrupted run of two models writes.
extern const std::string interrupted_report;

/// The example's names are as bad as names can be: "<b>&\"'" and another.
recorded_run example_run();

}  // namespace hydra::apps
