#pragma once
// What is usually done with a model of a run that has ended.

#include "actors/report/report.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

/// Command lines that work as they are: the export of the model, into a folder beside the run's, and where the model
/// writes text one that lets it; of its best state, if that is kept. None if no state is saved, or it cannot be told.
std::vector<std::string> next_commands(const std::filesystem::path& run, const model_report& m);

/// Why they are not about the state of the best evaluation; empty if they are.
std::string note_on_state(const std::filesystem::path& run, const model_report& m);

}  // namespace hydra::apps
