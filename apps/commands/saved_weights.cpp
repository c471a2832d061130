#include "apps/commands/saved_weights.hpp"

#include "partition/checkpoint_folder.hpp"
#include "partition/checkpoint_weights.hpp"
#include "partition/saved_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& text) { throw fault_error{fault_code::bad_input, text}; }

}  // namespace

fs::path checkpoint_to_read(const fs::path& run, const std::string& model, bool best) {
  const fs::path of_model = checkpoints_of(run / "checkpoints", model);
  if (best) {
    const auto found = best_checkpoint(of_model);
    if (!found)
      refuse(fmt::format("{} has no checkpoint of a best evaluation; train with validate = {{ every_steps = N, keep_best = true }}",
                         of_model.string()));
    return *found;
  }
  std::vector<std::string> notes;
  const bool inside_step = false;
  const auto found = newest_checkpoint(of_model, inside_step, notes);
  if (!found)
    refuse(fmt::format("{} has no whole checkpoint between two steps{}{}", of_model.string(), notes.empty() ? "" : ": ",
                       fmt::join(notes, "; ")));
  return found->folder;
}

chain_description with_checkpoint(chain_description description, const fs::path& checkpoint) {
  description.build = [build = std::move(description.build), checkpoint](const data_source& data) {
    return build(data).begin_with(checkpoint_weights(checkpoint));
  };
  return description;
}

}  // namespace hydra::apps
