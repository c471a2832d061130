#pragma once
// A checkpoint as initial weights: for evaluation, generation, export, or another training.

#include "models/weight_source.hpp"

#include <filesystem>
#include <memory>

namespace hydra {

/// The parameters of a checkpoint, mapped. Those that were frozen are not in it: they are as `before`, what the training
/// began with (null: random values). Throws fault_error{damaged} if it is damaged; its read() {bad_input} for a parameter
/// that the checkpoint does not have although none was frozen, or has in another shape.
std::shared_ptr<const weight_source> checkpoint_weights(const std::filesystem::path& folder,
                                                        std::shared_ptr<const weight_source> before = nullptr);

}  // namespace hydra
