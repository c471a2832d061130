#pragma once
// The proven lower bounds of a scheduling instance. Standard library only.

#include "actors/policy/bounds.hpp"
#include "actors/simulation/instance.hpp"
#include "actors/simulation/staging_bounds.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// With noise the shortest possible times count; failures of devices are ignored.
struct instance_bounds {
  bounds limits;            ///< hold for every prefetch depth; the chain starts at its model's arrival
  /// The chain of a device that may stage one unit besides the one computing, and copies every checkpoint: by the rules
  /// of completion_rule::ended; elsewhere none. A real device may find a checkpoint in its cache.
  std::optional<duration> staged_chain{};
  staging_bounds staging;

  std::vector<bounds::named> all() const;
};

/// Throws fault_error{bad_input} of validate().
instance_bounds bounds_of(const schedule_instance& instance, completion_rule rule = completion_rule::ended);

}  // namespace hydra
