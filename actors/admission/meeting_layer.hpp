#pragma once
// Where the replicas of a model meet.

#include "models/chain.hpp"

#include <cstddef>
#include <string>

namespace hydra {

/// The first layer of that name, which is its prefix without the last dot. Throws fault_error{bad_input} if there is
/// none, with the names of all, or if a shard cannot begin there in which replicas meet: it is the first one, or some
/// are side by side before it or add to its input.
std::size_t meeting_layer(const chain& model, const std::string& name);

}  // namespace hydra
