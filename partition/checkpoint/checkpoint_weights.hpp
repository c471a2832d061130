#pragma once
// A checkpoint as initial weights: for evaluation, generation, export, or another training.

#include "models/weight_source.hpp"

#include <filesystem>
#include <memory>

namespace hydra {

/// The parameters of a checkpoint, mapped. Throws fault_error{damaged} if it is damaged; its read() {bad_input} for a
/// parameter that the checkpoint does not have, or has in another shape.
std::shared_ptr<const weight_source> checkpoint_weights(const std::filesystem::path& folder);

}  // namespace hydra
