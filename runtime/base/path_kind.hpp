#pragma once
// What is at a path that a user has named, and why that is unknown or cannot be read.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace hydra {

/// The system's reason: a folder that may not be entered, a name that is too long. Empty if the system knows what is
/// there, or that nothing is.
std::string why_unknown(const std::filesystem::path& path);

/// file_type::not_found if nothing is there. Throws fault_error{bad_input} `OPTION PATH: WHY` where that is unknown.
std::filesystem::file_type kind_of(const std::filesystem::path& path, std::string_view option = {});

/// Throws fault_error{bad_input} `OPTION PATH: WHY`: nothing is there, a folder, or the system's reason.
std::ifstream open_to_read(const std::filesystem::path& file, std::string_view option = {});

}  // namespace hydra
