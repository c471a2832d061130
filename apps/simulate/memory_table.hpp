#pragma once
// The lines of `hydra plan` on what more memory of the devices would bring.

#include "actors/admission/compared_forecasts.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>

namespace hydra::apps {

/// Empty if nothing is computed again as it is.
std::string to_table(std::span<const memory_forecast> all);
nlohmann::ordered_json memory_json(std::span<const memory_forecast> all);

}  // namespace hydra::apps
