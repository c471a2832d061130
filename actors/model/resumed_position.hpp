#pragma once
// Where a model that is resumed continues, from what its checkpoint says.

#include "partition/checkpoint/model_history.hpp"
#include "partition/plan/cursor.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

struct resumed_position {
  std::vector<unit_position> first;    ///< unit of each lane
  std::uint32_t reported = 0;          ///< steps that are in the history
  bool observe_again = false;          ///< whether the last step had been acknowledged is not known
  std::optional<std::uint32_t> evaluation{};   ///< the same of the evaluation after so many steps
};

/// `observed`: steps are sent to a controller. `units` end where the model was stopped.
resumed_position position_of(const model_standing& saved, const cursor& units, bool observed);

/// The first unit of each lane.
std::vector<unit_position> first_units(const model_standing& saved, const cursor& units);

}  // namespace hydra
