#pragma once
// The result of a run: which model is best, by what, and what it took.

#include "apps/run_folder/recorded_run.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

/// Positions of the models, best first: trials of a search as it ranks them, then by the best validation loss, then
/// models without one by their last loss, then models whose loss is absent or not finite, or that have failed. Equal
/// models keep the order of the workload.
std::vector<std::size_t> best_first(const recorded_run& run);

/// Of training; NaN before the first step.
double last_loss(const model_report& m);

/// The first of them, if it has a loss.
std::optional<std::size_t> best_model(const recorded_run& run);

/// "best model", "best so far", "model" if there is one.
std::string best_label(const recorded_run& run);

/// By which a model is shown: the evaluation with the smallest loss; of a search for the best accuracy the one at which
/// it was ranked. Null for a model that was not evaluated.
const validation_report* shown_evaluation(const recorded_run& run, std::size_t model);

/// Paths of the keys that tell the models apart, and the values of one model for them: of a search those that it
/// varies. A model that is not known has no values.
std::vector<std::string> told_keys(const recorded_run& run);
std::vector<std::string> told_values(const recorded_run& run, std::size_t model, const std::vector<std::string>& keys);

/// "validation 2.5150 at step 55 of 60"; of a model that was not evaluated its last training loss.
std::string score_text(const recorded_run& run, std::size_t model);
/// "perplexity 12.37, accuracy 34.3 %"; empty if it has neither.
std::string quality_text(const validation_report& v);
/// "batch_size 8, learning_rate 1e-2": what tells it from the others; may be empty.
std::string settings_text(const recorded_run& run, std::size_t model);
/// "5 finished, 1 stopped".
std::string outcomes_text(const report& r);
/// From the measuring of the layers to the last checkpoint.
std::string wall_time(const report& r);
/// The device whose memory was filled most; null without devices.
const device_report* fullest_device(const report& r);

/// What can be done with the best model of a run that has ended, from its folder.
void add_next(recorded_run& run, const std::filesystem::path& folder);

/// Lines of "best model", "settings", "run", "note" and "next", as far as there is something to say.
std::string result_lines(const recorded_run& run);

}  // namespace hydra::apps
