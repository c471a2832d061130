#pragma once
// Lower bounds of an instance's makespan from what devices stage and what they hold. Standard library only.

#include "actors/policy/bounds.hpp"
#include "actors/simulation/instance.hpp"

#include <optional>
#include <span>

namespace hydra {

struct staging_bounds {
  /// Of the devices' time. Where they stage one unit: neighbours on a device start at least as far from each other as
  /// the first one computes and as the second one's load takes. Elsewhere none.
  std::optional<duration> staged_work{};
  /// Of the time of devices, links and cache slots together: a backward visit finds its shard in the cache only if a
  /// slot has held it since its forward visit, else it is loaded once more.
  duration slots{};
};

/// `times` of the instance's models, on their fastest device.
staging_bounds staging_bounds_of(const schedule_instance& instance, std::span<const unit_times> times,
                                 completion_rule rule);

}  // namespace hydra
