#pragma once
// The instances in apps/instances/, and the results of an independent simulator.

#include "actors/simulation/instance.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace hydra::test {

std::filesystem::path instances_folder();

/// In the order of their names.
std::vector<std::filesystem::path> shipped_instances();

/// reference.json: of one instance its bounds and, by policy, its results.
const nlohmann::json& reference_of(const std::string& instance);

std::string text_of(const std::filesystem::path& file);

}  // namespace hydra::test
