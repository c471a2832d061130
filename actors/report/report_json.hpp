#pragma once
// A report as JSON, and back.

#include "actors/report/report.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>

namespace hydra {

/// report.json as documented (snake_case, seconds and bytes as plain numbers).
std::string to_json(const report& r);

/// Writes report.json atomically. Throws fault_error{io}.
void write_report(const report& r, const std::filesystem::path& file);

/// What to_json() has written; a member that is missing keeps its default. Throws nlohmann::json::exception for a value
/// of another type.
report report_of(const nlohmann::ordered_json& written);

}  // namespace hydra
