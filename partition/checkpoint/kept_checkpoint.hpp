#pragma once
// A checkpoint that other models may begin from.

#include <filesystem>

namespace hydra {

/// Gives the newest of a model's states (list_states()) that is whole and was saved between two steps a second name,
/// `kept-step-400` beside it: that one is not replaced by later ones. Its files are hard links where the file system
/// has them. Returns it; one that is there is taken as it is. Throws fault_error{refused} if the model has no such
/// checkpoint, {io}.
std::filesystem::path keep_checkpoint(const std::filesystem::path& of_model);

}  // namespace hydra
