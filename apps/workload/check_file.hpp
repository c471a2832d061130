#pragma once
// Named input files and folders must be there before anything starts.

#include "apps/workload/value.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace hydra::apps {

/// Relative paths start at the working directory. Throws fault_error{bad_input}: missing (the message says if the file
/// is next to the workload file instead), a folder, not readable, empty.
void check_file(const place& where, std::string_view key, const std::string& path);

/// The same for a folder.
void check_folder(const place& where, std::string_view key, const std::string& path);

/// The same for a path that may be either; `if_missing` is added to the message.
void check_path(const place& where, std::string_view key, const std::string& path, const std::string& if_missing = "");

/// What to add to a message about a folder that is missing: how to download it, if its name is like that of a model on
/// the Hugging Face Hub ("OWNER/NAME"); else empty.
std::string hub_hint(const std::filesystem::path& missing);

/// What to add to a message about a path that begins with "~", which a shell expands in some places and Hydra nowhere;
/// else empty.
std::string home_hint(const std::filesystem::path& path);

}  // namespace hydra::apps
