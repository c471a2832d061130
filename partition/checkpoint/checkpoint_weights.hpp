#pragma once
// A checkpoint as initial weights: for evaluation, generation, export, or another training.

#include "models/chain.hpp"
#include "models/weight_source.hpp"

#include <filesystem>
#include <memory>

namespace hydra {

/// The parameters of a checkpoint, mapped. Those that were frozen are not in it: they are as the training began. Throws
/// fault_error{damaged} if it is damaged; its read() {bad_input} for a parameter that the checkpoint does not have, or
/// has in another shape.
std::shared_ptr<const weight_source> checkpoint_weights(const std::filesystem::path& folder);
/// `trained`: the chain that was trained, which tells the frozen parameters. Throws fault_error{bad_input} if they come
/// from weights that have changed since.
std::shared_ptr<const weight_source> checkpoint_weights(const std::filesystem::path& folder, const chain& trained);

}  // namespace hydra
