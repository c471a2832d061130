#pragma once
// A checkpoint as weights to begin with: for evaluation, generation, export, or another training.

#include "models/weight_source.hpp"

#include <filesystem>
#include <memory>

namespace hydra {

/// The parameters of a checkpoint, mapped. Throws fault_error{io} if it is damaged.
std::shared_ptr<const weight_source> checkpoint_weights(const std::filesystem::path& folder);

}  // namespace hydra
