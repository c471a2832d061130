#pragma once
// Checkpoints as folders: one per checkpoint, safetensors and JSON, readable without Hydra. CHECKPOINTS.md describes
// them.

#include "partition/checkpoint/checkpoint.hpp"
#include "runtime/storage/file_system.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hydra {

/// Writes `<root>/<model>/<number>-step-<steps>/` atomically, and keeps the newest of each model. The best state goes
/// to `<root>/<model>/best-step-<steps>/`, of which the last one is kept.
class checkpoint_folder final : public checkpoint_store {
 public:
  /// `keep` >= 1. One more is kept if none of them can be resumed with other cuts. `files` outlives the object.
  checkpoint_folder(file_system& files, std::filesystem::path root, std::uint32_t keep);

  void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) override;

 private:
  void write(const model_checkpoint& c, const std::filesystem::path& place,
             const std::function<void(shard_index)>& saved);

  file_system& files_;
  std::filesystem::path root_;
  std::uint32_t keep_;
  std::set<std::filesystem::path> swept_;   ///< of temporary files that killed runs have left
};

/// The folder of a model's checkpoints: characters that no file name should have are written as %XX.
std::filesystem::path checkpoints_of(const std::filesystem::path& root, const std::string& model);

/// Why a model of that name cannot have such a folder (its name would be too long); empty if it can.
std::string why_no_checkpoints(const std::string& model);

/// A model's checkpoints, the newest first, damaged or not. Throws fault_error{bad_input} for a folder that may not be
/// read.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& of_model);

/// What a model continues from, the newest first, damaged or not: its checkpoints, and a best state before those that
/// have done fewer steps.
std::vector<std::filesystem::path> list_states(const std::filesystem::path& of_model);

/// Of these the newest checkpoint, another one if that cannot be resumed with other cuts, and the best state: what a
/// model needs to continue elsewhere. The newest first, without damaged ones.
std::vector<std::filesystem::path> states_to_continue(const std::filesystem::path& of_model);

/// Steps that the newest state has done that is not damaged; none without one.
std::optional<std::uint32_t> newest_step(const std::filesystem::path& of_model);

/// Removes all best states but the one of that name.
void drop_other_bests(file_system& files, const std::filesystem::path& of_model, const std::string& best);

/// Keeps the newest `keep`, and the newest that can be resumed with any cuts; damaged ones stay. A removal that fails
/// is tried again by the next call.
void drop_old_checkpoints(file_system& files, const std::filesystem::path& of_model, std::uint32_t keep);

/// The checkpoint of a model's best evaluation, if one was kept.
std::optional<std::filesystem::path> best_checkpoint(const std::filesystem::path& of_model);

/// Removes the best state of a model that continues from nothing of its own: it is of an earlier start, which may have
/// trained otherwise. False if there is none. Throws fault_error{io}.
bool forget_best(file_system& files, const std::filesystem::path& of_model);

}  // namespace hydra
