#pragma once
// Scheduling instances as files: JSON, format "schedule-instance/1", times in whole microseconds.
// apps/instances/README.md describes the keys and the rules of the machine.

#include "actors/simulation/instance.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace hydra {

/// Required: format, devices, models; of a model: steps, forward, backward. Without h2d, d2h_gradient or optimizer
/// these take no time; every other key has the default of schedule_instance. Throws fault_error{bad_input} that names
/// `source` and the key: no JSON (truncated), unknown or missing keys, wrong types, what validate() refuses.
schedule_instance parse_instance(std::string_view text, const std::string& source);

/// The same for a file. Also throws fault_error{bad_input} if it is not there or cannot be read.
schedule_instance load_instance(const std::filesystem::path& file);

/// In the format of the shipped instances; keys that have their default are left out if the first version of the format
/// did not have them. Throws fault_error{bad_input} for times that are not whole microseconds.
std::string to_json(const schedule_instance& instance);

}  // namespace hydra
