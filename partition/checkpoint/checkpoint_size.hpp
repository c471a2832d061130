#pragma once
// How large checkpoints are, also before there is one.

#include "models/chain.hpp"
#include "models/optimizer/update_rule.hpp"
#include "runtime/base/bytes.hpp"

#include <filesystem>

namespace hydra {

/// Bytes of the values in a checkpoint from between two steps, whatever the cuts: parameters that are trained, and
/// their moments. Names, descriptions and the losses so far take some more.
byte_count checkpoint_bytes(const chain& model, const update_options& update);

/// Bytes of what a model has to continue from (list_states()).
byte_count saved_bytes(const std::filesystem::path& of_model);

}  // namespace hydra
