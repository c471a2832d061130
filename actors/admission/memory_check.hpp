#pragma once
// Whether the host can hold a model at all, asked before its layers are measured: that takes minutes for a large one.

#include "actors/protocol/model_description.hpp"
#include "models/chain.hpp"
#include "runtime/base/bytes.hpp"

#include <cstddef>

namespace hydra {

/// Throws fault_error{does_not_fit} if the host memory of a run on `devices` devices cannot hold the model even alone,
/// however it is cut: with what it needs at least, and which other settings of it would fit.
void check_least_memory(const model_description& m, const chain& model, byte_count host, std::size_t devices);

}  // namespace hydra
