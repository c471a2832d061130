#pragma once
// Parameters that are stepped with a learning rate or a weight decay of their own.

#include "models/optimizer/parameter_form.hpp"
#include "runtime/base/name_patterns.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Which parameters decay: all, or those with two dimensions or more (no biases and norms).
enum class decay_scope : std::uint8_t { all, matrices };

/// What is not given is as for parameters of no group.
struct parameter_group {
  name_patterns parameters{};             ///< over the names in a checkpoint, of those that are trained
  std::optional<double> learning_rate{};  ///< before the schedule, which is the same for all
  std::optional<double> weight_decay{};   ///< of these parameters, whatever the decay_scope
};

/// The group that decides for a parameter, by its name in a checkpoint: the last one that has it; null if none has.
const parameter_group* group_of(std::span<const parameter_group> groups, const std::string& name);

/// A parameter that is stepped.
struct trained_parameter {
  std::string name;  ///< in a checkpoint
  std::vector<std::int64_t> shape;
  bool hidden = true;  ///< in a layer between the first and the last one

  parameter_form form() const noexcept { return {.shape = shape, .hidden = hidden}; }
};

}  // namespace hydra
