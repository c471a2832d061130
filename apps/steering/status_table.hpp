#pragma once
// The status of a run that is under way, for a terminal.

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace hydra::apps {

/// Tables of models and devices, and a line of host memory; "-" for what the status lacks.
std::string status_table(const nlohmann::ordered_json& status);
/// Of these the one of the devices.
std::string devices_table(const nlohmann::ordered_json& status);

}  // namespace hydra::apps
