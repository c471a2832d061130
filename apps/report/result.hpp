#pragma once
// The result of a run: which model is best, by what, and what it took.

#include "apps/run_folder/recorded_run.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

/// Positions of the models, best first: trials of a search as it ranks them, then by the best validation loss, then
/// models without one by their last loss, then models whose loss is absent or not finite, or that have failed. Equal
/// models keep the order of the workload.
std::vector<std::size_t> best_first(const recorded_run& run);

/// The first of them, if it has a loss.
std::optional<std::size_t> best_model(const recorded_run& run);

/// By which a model is shown: the evaluation with the smallest loss; of a search for the best accuracy the one at which
/// it was ranked. Null for a model that was not evaluated.
const validation_report* shown_evaluation(const recorded_run& run, std::size_t model);

/// "2.5150 at step 55 of 60"; of a model that was not evaluated its last training loss.
std::string score_text(const recorded_run& run, std::size_t model);
/// "perplexity 12.37, accuracy 34.3 %"; empty if it has neither.
std::string quality_text(const validation_report& v);
/// "batch_size 8, learning_rate 1e-2": what tells it from the others; may be empty.
std::string settings_text(const recorded_run& run, std::size_t model);
/// "5 finished, 1 stopped".
std::string outcomes_text(const report& r);
/// From the measuring of the layers to the last checkpoint.
std::string wall_time(const report& r);
/// "3.8 MiB of 4.0 MiB on cpu:0": of the device that was filled most; empty without devices.
std::string device_peak(const report& r);

/// Lines of "best model", "settings", "run" and "next", as far as there is something to say. `next`: command lines;
/// `note` is about them.
std::string result_lines(const recorded_run& run, const std::vector<std::string>& next, const std::string& note = "");

}  // namespace hydra::apps
