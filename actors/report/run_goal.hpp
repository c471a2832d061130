#pragma once
// What the devices of a run are chosen for.

#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <optional>

namespace hydra {

enum class run_objective : std::uint8_t { makespan, cost, energy };

struct run_goal {
  run_objective least = run_objective::makespan;
  std::optional<duration> deadline{};  ///< of the makespan
  /// Without one, a run uses all of its devices.
  bool is_set() const { return least != run_objective::makespan || deadline.has_value(); }
};

}  // namespace hydra
