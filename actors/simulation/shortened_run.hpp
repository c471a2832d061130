#pragma once
// A simulated run of a plan with fewer steps, when it is long: what it takes is scaled as its lower bound is.

#include "actors/policy/bounds.hpp"
#include "actors/simulation/predict.hpp"
#include "actors/simulation/simulation.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hydra {

/// Of a plan; `setup.models` are those that are to be counted.
bounds bounds_of(std::span<const sharded_model_ptr> models, const forecast_setup& setup);

struct shortened_run {
  simulation_setup setup;
  bounds limits{};   ///< of all steps
  double scale = 1;  ///< bound of all steps / bound of those that are left
  std::uint32_t divided_by = 1;
  std::vector<double> of_models{};  ///< steps of each / those that are left
};

/// Divides the numbers of steps so that about setup.most_units are left.
shortened_run shorten(forecast_setup setup);

}  // namespace hydra
