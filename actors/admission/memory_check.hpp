#pragma once
// Whether a model can fit at all, asked before its layers are measured: that takes minutes for a large one.

#include "actors/protocol/model_description.hpp"
#include "models/chain.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/device/device.hpp"

#include <vector>

namespace hydra {

/// What a run may use.
struct memory_limits {
  byte_count host;
  std::vector<device_info> devices{};
};

/// Throws fault_error{does_not_fit} if the model does not fit even alone, however it is cut: with what it needs at
/// least, and which other settings of it would fit.
void check_least_memory(const model_description& m, const chain& model, const memory_limits& limits);

}  // namespace hydra
