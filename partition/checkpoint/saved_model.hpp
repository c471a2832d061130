#pragma once
// Reads a checkpoint back.

#include "partition/checkpoint/checkpoint.hpp"
#include "partition/plan/cut.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// What an identity (sharded_model::identity) says after "KEY: "; empty if it has no such line.
std::string identity_line(const std::string& identity, std::string_view key);

/// A checkpoint without its memory.
struct saved_model {
  std::filesystem::path folder;
  std::string name;
  std::string identity;             ///< sharded_model::identity of the model that was saved
  cut_points cuts;
  std::uint64_t seed = 0;
  std::uint32_t steps = 0;          ///< of the model in all, as it was when it was saved
  std::uint32_t abreast = 1;        ///< most shards side by side
  model_standing standing;
  std::vector<version_index> versions;
  update_progress updates;
  bool starts_step = false;  ///< what has been computed of its step is left out, whatever the plan
  std::string identity_line(std::string_view key) const { return hydra::identity_line(identity, key); }
  /// All shards have the parameters of the same step.
  bool whole_step() const noexcept;
  /// It can be resumed with other cuts and waves, with pieces side by side or not, from the start of its step: no shard
  /// has been stepped.
  bool any_cuts() const noexcept;
  /// The model continues inside its step: the plan has the checkpoint's cuts and lanes, and its step is not to start
  /// afresh.
  bool fits(const model_plan& plan) const;
  std::uint32_t lanes() const noexcept { return static_cast<std::uint32_t>(standing.next.units.size()); }
  /// The position from which the model continues with that plan.
  model_standing begins(const model_plan& plan) const;
};

/// Throws fault_error{damaged} naming the file that is missing or damaged, {bad_input} for another format version.
saved_model read_checkpoint(const std::filesystem::path& folder);

/// The model's memory, in new buffers of the arena: the checkpoint's tensors, under the cuts of `m`. Unless its plan
/// fits(), the checkpoint must have any_cuts(), and the model starts its step again. Throws fault_error{damaged} if
/// a tensor is missing or has another shape, {out_of_memory}.
model_memory load_memory(const saved_model& from, model_id id, const sharded_model& m, host_arena& arena,
                         const base_lookup& bases = {});

/// What a checkpoint is read for: to continue inside its step, or with other cuts from the start of one; or for its
/// parameters alone.
enum class checkpoint_use : std::uint8_t { same_cuts, other_cuts, parameters };

/// The newest checkpoint or best state of a model that is not damaged and has what that use needs: any_cuts(),
/// whole_step(). Adds to `notes` which ones it passed over, and why. Damaged ones are renamed, unless only parameters
/// are read: then the folder stays as it is.
std::optional<saved_model> newest_checkpoint(const std::filesystem::path& of_model, checkpoint_use use,
                                             std::vector<std::string>& notes);

/// Reads all states of a model, older ones included, and renames those that are damaged. Adds to `notes` which, and
/// why.
void set_damaged_aside(const std::filesystem::path& of_model, std::vector<std::string>& notes);

}  // namespace hydra
