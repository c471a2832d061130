#include "apps/run_folder/saved_weights.hpp"

#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/checkpoint_weights.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/storage/verify_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
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

/// Whether the checkpoint's line about its data names a tokenizer.
bool was_trained_by_tokenizer(const fs::path& checkpoint) {
  return read_checkpoint(checkpoint).identity_line("data").find(", tokenizer ") != std::string::npos;
}

}  // namespace

fs::path checkpoint_to_read(const fs::path& run, const std::string& model, bool best) {
  const fs::path of_model = checkpoints_of(run / "checkpoints", model);
  if (best) {
    const auto found = best_checkpoint(of_model);
    if (!found)
      refuse(fmt::format("{} has no checkpoint of a best evaluation: it was not evaluated yet, or was not trained with "
                         "validate = {{ every_steps = N, keep_best = true }}",
                         of_model.string()));
    return verified(*found, "the best evaluation");
  }
  std::vector<std::string> notes;
  const bool inside_step = false;
  const auto found = newest_checkpoint(of_model, inside_step, notes, damaged_checkpoint::left);
  if (!found)
    refuse(fmt::format("{} has no undamaged checkpoint of the end of a step{}{}{}", of_model.string(), notes.empty() ? "" : ": ",
                       fmt::join(notes, "; "),
                       list_checkpoints(of_model).empty() ? "; nothing is saved yet: continue by hydra train --resume"
                                                          : ""));
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
  return found->folder;
}

void require_tokenizer_of_training(const fs::path& checkpoint, const data_description& data,
                                   const sample_request& wants) {
  const bool named = tokenizer_for(data, wants) == tokenizer_for(data, {});
  if (named || was_trained_by_tokenizer(checkpoint)) return;
  refuse(
      fmt::format("{} was trained on bytes; now data without a tokenizer are read by that of {}. Write tokenizer = "
                  "\"bytes\" into the [data.NAME] of the run's workload.toml",
                  checkpoint.string(), wants.checkpoint.string()));
}

fs::path checkpoint_of_step(const fs::path& run, const std::string& model, std::uint64_t step) {
  const fs::path of_model = checkpoints_of(run / "checkpoints", model);
  std::vector<std::string> there;
  for (const fs::path& folder : list_checkpoints(of_model)) {
    there.push_back(folder.filename().string());
    if (!there.back().ends_with(fmt::format("-step-{}", step))) continue;
    verified(folder, fmt::format("step {}", step));
    if (read_checkpoint(folder).any_cuts()) return folder;
  }
  refuse(fmt::format("{} has no checkpoint between two steps of step {}; there are: {}", of_model.string(), step,
                     fmt::join(there, ", ")));
}

std::uint32_t steps_in(const saved_model& checkpoint) { return checkpoint.versions.front().value; }

chain_description with_checkpoint(chain_description description, const fs::path& checkpoint) {
  description.build = [build = std::move(description.build), checkpoint](const data_source& data) {
    chain c = build(data);
    return c.begin_with(checkpoint_weights(checkpoint, c));
  };
  return description;
}

}  // namespace hydra::apps
