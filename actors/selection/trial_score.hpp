#pragma once
// The score of a trial: lower is better. Standard library only.

#include "actors/selection/search_settings.hpp"

#include <optional>

namespace hydra {

/// Of an evaluation with that loss, and that accuracy if there is one.
inline double score_of(search_metric metric, double loss, std::optional<double> accuracy) {
  return metric == search_metric::accuracy ? -accuracy.value_or(0) : loss;
}

}  // namespace hydra
