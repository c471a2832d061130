#pragma once
// The folder that a run writes its files to.

#include "apps/workload/place.hpp"

#include <filesystem>
#include <string>

namespace hydra::apps {

/// The workload as run, in the run folder.
inline constexpr const char* workload_file = "workload.toml";

/// A run of a C++ program: its plan is there, and no workload.toml, without which chains and data are not known.
bool is_of_program(const std::filesystem::path& run);

/// Throws fault_error{bad_input} if the folder exists, or could not be made. Makes nothing. `where` chose the folder.
/// The message mentions --resume.
void check_output(const place& where, const std::filesystem::path& folder);

/// Throws fault_error{bad_input} unless the folder, which exists, can be written to.
void check_writable(const place& where, const std::filesystem::path& folder);

/// Makes the folder, which then belongs to this run: if several processes try, one succeeds. Throws
/// fault_error{bad_input} as check_output does if it exists by then, or cannot be made.
void make_run_folder(const place& where, const std::filesystem::path& folder);

/// Writes workload.toml, instead of an older one. Throws fault_error{io}.
void record_workload(const std::filesystem::path& run, const std::string& text);

/// Removes the folder of a run that could not start, unless it has other files than those that a run begins with.
void remove_unused(const std::filesystem::path& folder) noexcept;

}  // namespace hydra::apps
