#pragma once
// Asks a run that is under way.

#include <nlohmann/json_fwd.hpp>

#include <filesystem>

namespace hydra::apps {

/// Sends a command of docs/control.md to the run in the folder and waits for its answer. Throws fault_error{bad_input}:
/// no run is under way there, or the run answers {"error": ...}.
nlohmann::ordered_json ask_run(const std::filesystem::path& folder, const nlohmann::ordered_json& command);

}  // namespace hydra::apps
