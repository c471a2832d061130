#include "apps/run_folder/saved_weights.hpp"

#include "apps/run_folder/files_of_training.hpp"
#include "apps/run_folder/folder_lock.hpp"
#include "apps/run_folder/metrics_record.hpp"
#include "apps/run_folder/resume_command.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/checkpoint_weights.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/storage/verify_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// The checkpoint, verified: where exactly this one is asked for, no other can be used instead.
fs::path verified(const fs::path& folder, const std::string& what) try {
  verify_folder(folder);
  return folder;
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::damaged) throw;
  refuse(fmt::format("the checkpoint of {} is damaged: {}", what, e.what_happened().text));
}

/// A model that has diverged does so again where its run is continued.
[[noreturn]] void refuse_without_whole_step(const fs::path& run, const std::string& model,
                                            const std::vector<std::string>& notes) {
  const std::string why = notes.empty() ? "no checkpoint is there" : fmt::format("{}", fmt::join(notes, "; "));
  if (const std::string failure = is_locked(run) ? "" : divergence_of(run, model); !failure.empty())
    refuse(fmt::format("{} has failed: {}. No whole step of it is saved: {}. Train it again, in another folder", model,
                       failure, why));
  const std::string what =
      is_locked(run) ? "The run is under way: try again when it has saved a step, or give the names of other models"
                     : "This continues the run: " + resume_command(run);
  refuse(fmt::format("no whole step of {} is saved yet: {}. {}", model, why, what));
}

/// Whether it has the parameters after so many steps. The name tells of a damaged one: it counts steps whose units are
/// complete, and updates may be a step behind.
bool is_of_step(const fs::path& checkpoint, std::uint64_t step) try {
  const saved_model saved = read_checkpoint(checkpoint);
  return saved.whole_step() && steps_in(saved) == step;
} catch (const fault_error&) {
  return checkpoint.filename().string().ends_with(fmt::format("-step-{}", step));
}

/// None inside a step, or if it is damaged.
std::optional<std::uint32_t> whole_step_of(const fs::path& checkpoint) try {
  const saved_model saved = read_checkpoint(checkpoint);
  return saved.whole_step() ? std::optional{steps_in(saved)} : std::nullopt;
} catch (const fault_error&) {
  return std::nullopt;
}

/// "000012-step-400 (after step 400)".
std::string summary_of(const fs::path& checkpoint) try {
  const saved_model saved = read_checkpoint(checkpoint);
  return fmt::format("{} ({})", checkpoint.filename().string(),
                     saved.whole_step() ? fmt::format("after step {}", steps_in(saved)) : "inside a step");
} catch (const fault_error&) {
  return fmt::format("{} (damaged)", checkpoint.filename().string());
}

/// Of the newest checkpoint that is not damaged.
std::vector<evaluation_record> evaluations_in(const fs::path& of_model) {
  std::vector<std::string> passed_over;
  const auto found = newest_checkpoint(of_model, checkpoint_use::parameters, passed_over);
  return found ? found->standing.history.evaluations : std::vector<evaluation_record>{};
}

/// What there is without the option --best; empty if no whole step is saved, or if the model has failed after it.
std::string states_instead(const fs::path& run, const std::string& model) {
  if (!divergence_of(run, model).empty()) return "";
  std::vector<std::uint32_t> steps;
  for (const fs::path& state : list_states(checkpoints_of(run / "checkpoints", model)))
    if (const auto step = whole_step_of(state)) steps.push_back(*step);
  if (steps.empty()) return "";
  const std::string others =
      steps.size() == 1 ? "" : fmt::format(", hydra export --step N takes {}", fmt::join(steps, " or "));
  return fmt::format("; without --best it is the state after step {}{}", steps.front(), others);
}

}  // namespace

std::string divergence_of(const fs::path& run, const std::string& model) try {
  const recorded_run r = latest_record(run);
  const auto m = std::ranges::find(r.summary.models, model, &model_report::name);
  const bool diverged = m != r.summary.models.end() && m->error.code == fault_code::not_finite;
  return diverged ? m->error.text : "";
} catch (const fault_error&) {
  return "";  // nothing is recorded
}

std::string options_before(const fs::path& of_model, std::uint32_t step) {
  const auto is_before = [&](const fs::path& state) { return whole_step_of(state).value_or(step) < step; };
  const std::vector<fs::path> all = list_states(of_model);
  const auto newest = std::ranges::find_if(all, is_before);
  const auto best = best_checkpoint(of_model);
  std::vector<std::string> options;
  if (newest != all.end()) options.push_back(fmt::format("--step {}", *whole_step_of(*newest)));
  if (best && is_before(*best)) options.emplace_back("--best");
  return fmt::format("{}", fmt::join(options, " or "));
}

std::string reason_without_best(const fs::path& run, const std::string& model) {
  const std::vector<evaluation_record> all = evaluations_in(checkpoints_of(run / "checkpoints", model));
  const bool none = std::ranges::none_of(all, [](const evaluation_record& e) { return std::isfinite(e.loss); });
  const std::string why = none ? divergence_of(run, model) : "";
  if (!why.empty()) return "it has failed: " + why;
  if (none && !all.empty()) return fmt::format("none of its evaluations ({}) has a finite loss", all.size());
  constexpr const char* keeps = "validate = { every_steps = N, keep_best = true }";
  if (!all.empty()) return fmt::format("it was evaluated, but its best state was not kept, as {} does", keeps);
  return fmt::format("it was not evaluated yet, or was not trained with {}", keeps);
}

fs::path checkpoint_to_read(const fs::path& run, const std::string& model, bool best) {
  const fs::path of_model = checkpoints_of(run / "checkpoints", model);
  if (best) {
    const auto found = best_checkpoint(of_model);
    if (!found)
      refuse(fmt::format("{} has no checkpoint of a best evaluation: {}{}", of_model.string(),
                         reason_without_best(run, model), states_instead(run, model)));
    return verified(*found, "the best evaluation");
  }
  std::vector<std::string> notes;
  const auto found = newest_checkpoint(of_model, checkpoint_use::parameters, notes);
  if (!found) refuse_without_whole_step(run, model, notes);
  for (const std::string& note : notes) tell_line(fmt::format("note: {}; {} is used", note, found->folder.string()));
  return found->folder;
}

fs::path checkpoint_of_step(const fs::path& run, const std::string& model, std::uint64_t step) {
  const fs::path of_model = checkpoints_of(run / "checkpoints", model);
  std::vector<std::string> there;
  std::optional<fault_error> damage;
  for (const fs::path& folder : list_states(of_model)) try {
      if (is_of_step(folder, step)) return verified(folder, fmt::format("step {}", step));
      there.push_back(summary_of(folder));
    } catch (const fault_error& e) {
      damage = e;  // the best state may be of the same step
    }
  if (damage) throw *damage;
  if (there.empty()) refuse_without_whole_step(run, model, {});
  refuse(fmt::format("{} has no checkpoint with the parameters after step {}; there are: {}", of_model.string(), step,
                     fmt::join(there, ", ")));
}

std::uint32_t steps_in(const saved_model& checkpoint) { return checkpoint.versions.front().value; }

chain_description with_checkpoint(chain_description description, const fs::path& checkpoint) {
  chain_description trained = description;
  trained.build = [description = std::move(description), checkpoint](const data_source& data) {
    chain c = description.build(data);
    require_chain_of_training(checkpoint, description, c);
    return c.begin_with(checkpoint_weights(checkpoint, c));
  };
  return trained;
}

}  // namespace hydra::apps
