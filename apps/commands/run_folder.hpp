#pragma once
// The folder that a run leaves behind.

#include "apps/workload/place.hpp"

#include <filesystem>
#include <string>

namespace hydra::apps {

/// The workload as run, in the run folder.
inline constexpr const char* workload_file = "workload.toml";

/// Throws fault_error{bad_input} if the folder exists, or could not be made. Makes nothing. `where` chose the folder.
/// The text says that --resume goes on.
void check_output(const place& where, const std::filesystem::path& folder);

/// Throws fault_error{bad_input} unless the folder, which is there, can be written to.
void check_writable(const place& where, const std::filesystem::path& folder);

/// Makes the folder unless it is there and writes workload.toml into it, instead of an older one. Throws
/// fault_error{bad_input} if it cannot be made, {io} if it cannot be written to.
void make_run_folder(const place& where, const std::filesystem::path& folder, const std::string& text);

/// Of a run that could not begin: unless something else than workload.toml and data.json lies in the folder, it is removed.
void remove_unused(const std::filesystem::path& folder) noexcept;

}  // namespace hydra::apps
