#pragma once
// What is printed of a run that has ended, by the run itself and by `hydra report`.

#include "apps/run_folder/recorded_run.hpp"

#include <string>

namespace hydra::apps {

inline constexpr const char* details_help =
    "also shards of the models, tables of the devices and of what their time went to, and all bounds";

/// The best model and what to do with it, the models, the makespan next to its bound; with `details` all tables.
std::string end_of(const recorded_run& run, bool details);

}  // namespace hydra::apps
