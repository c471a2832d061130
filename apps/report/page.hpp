#pragma once
// The page of a run: one HTML file that needs nothing else, light and dark, on a screen and on paper.

#include "apps/report/timeline.hpp"
#include "apps/run_folder/recorded_run.hpp"

#include <filesystem>
#include <string>

namespace hydra::apps {

/// From trace.json of a run folder; empty without it: a run whose trace was removed still has a report. Throws as
/// read_timeline does.
timeline timeline_of(const recorded_run& run, const std::filesystem::path& folder);

/// All charts and tables. A timeline without spans is left out.
std::string to_content(const recorded_run& run, const timeline& when);

/// The whole page, well-formed as XML.
std::string to_page(const recorded_run& run, const timeline& when);

}  // namespace hydra::apps
