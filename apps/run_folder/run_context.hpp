#pragma once
// What the folder of a run tells of it beside the report.

#include "apps/run_folder/recorded_run.hpp"

#include <filesystem>

namespace hydra::apps {

/// Adds the ranking of a search, the settings that differ between models, what has stopped models, and the name of the
/// folder. What cannot be read is left out; of a search a note says so.
void add_context(recorded_run& run, const std::filesystem::path& folder);

/// A report with that: what a run shows at its end.
recorded_run with_context(const report& r, const std::filesystem::path& folder);

}  // namespace hydra::apps
