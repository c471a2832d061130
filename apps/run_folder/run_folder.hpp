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

/// Makes the folder, which is then this run's: of several that try, one succeeds. Throws fault_error{bad_input} as
/// check_output does if it is there by now, or cannot be made.
void make_run_folder(const place& where, const std::filesystem::path& folder);

/// Writes workload.toml, instead of an older one. Throws fault_error{io}.
void record_workload(const std::filesystem::path& run, const std::string& text);

/// Of a run that could not begin: unless something else than workload.toml and data.json lies in the folder, it is removed.
void remove_unused(const std::filesystem::path& folder) noexcept;

}  // namespace hydra::apps
