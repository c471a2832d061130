#pragma once
// Completion times of models: objectives of policies besides the makespan. Pure.

#include "actors/report/report.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace hydra {

/// Of the models that are complete, finished or stopped. A completion is the end of the model's last update or
/// evaluation, since its arrival.
struct objectives {
  std::optional<duration> mean_completion{};       ///< none if no model is complete
  std::optional<duration> weighted_completion{};   ///< mean, weighted by priority
  std::size_t deadlines = 0;                       ///< of complete models
  std::size_t missed_deadlines = 0;
  std::size_t left_out = 0;  ///< models that failed or were interrupted; not those that an earlier run completed
};

objectives objectives_of(std::span<const model_report> models);

}  // namespace hydra
