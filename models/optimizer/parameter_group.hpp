#pragma once
// Parameters that are stepped with a learning rate or a weight decay of their own.

#include "runtime/base/name_patterns.hpp"

#include <cstdint>
#include <optional>

namespace hydra {

/// Which parameters decay: all, or those with two dimensions or more (no biases and norms).
enum class decay_scope : std::uint8_t { all, matrices };

/// What is not given is as for parameters of no group.
struct parameter_group {
  name_patterns parameters{};             ///< over the names in a checkpoint, of those that are trained
  std::optional<double> learning_rate{};  ///< before the schedule, which is the same for all
  std::optional<double> weight_decay{};   ///< of these parameters, whatever the decay_scope
};

}  // namespace hydra
