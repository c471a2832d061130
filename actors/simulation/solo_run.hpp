#pragma once
// Runs of an instance's models alone: what a pilot would measure, and a reference value computed from it.

#include "actors/simulation/instance.hpp"

#include <span>
#include <vector>

namespace hydra {

/// Without noise, arrival and failure.
struct solo_run {
  duration wall{};
  /// after the last unit of each step until the next starts or the run ends: others could fill it
  duration turns{};
  double speed = 1;  ///< of the device
};

/// A model on the fastest device of `machine`, whose models are ignored.
solo_run run_alone(const schedule_instance& machine, const instance_model& model);

/// Each of them; equal ones are run once.
std::vector<solo_run> run_all_alone(const schedule_instance& machine, std::span<const instance_model> models);

/// The time of spilled models if they did not disturb each other: a fair reference, but no bound. A policy can be
/// better, because a model on two devices has two links and twice the cache.
struct yardstick {
  duration longest{};  ///< solo run
  duration shared{};   ///< all of them / devices, weighted by speed
  duration shared_without_boundaries{};
  duration best() const;  ///< the longest one, or all of them without their step boundaries
};
yardstick yardstick_of(const schedule_instance& instance);

}  // namespace hydra
