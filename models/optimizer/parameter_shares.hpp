#pragma once
// What the groups of an optimizer do to the parameters of a model.

#include "models/optimizer/update_rule.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Parameters of one group, or of none, that are stepped by the same rule with the same rate and decay.
struct parameter_share {
  std::optional<std::size_t> group{};  ///< its place in the options
  update_kind rule = update_kind::adamw;
  double learning_rate = 0;            ///< before the schedule
  double weight_decay = 0;
  std::vector<std::string> names{};  ///< in a checkpoint
  std::int64_t values = 0;           ///< numbers that these parameters have
};

/// Those of no group first, then by group; within one group in the order of the parameters.
std::vector<parameter_share> parameter_shares(const update_options& options,
                                              std::span<const trained_parameter> parameters);

/// Throws fault_error{bad_input} for a pattern of a group that matches none of the parameters.
void check_groups(const update_options& options, std::span<const trained_parameter> parameters);

/// The first group without which each parameter would have the same rate and decay.
std::optional<std::size_t> idle_group(const update_options& options, std::span<const trained_parameter> parameters);

}  // namespace hydra
