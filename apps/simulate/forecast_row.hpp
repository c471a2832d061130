#pragma once
// Turns a forecast into a row of a comparison.

#include "actors/simulation/forecast.hpp"
#include "apps/simulate/comparison.hpp"

#include <string>

namespace hydra::apps {

policy_row row_of(const std::string& policy, const forecast& f);

}  // namespace hydra::apps
