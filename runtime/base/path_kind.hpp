#pragma once
// What is at a path that a user has named, and why that is unknown.

#include "runtime/base/fault.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace hydra {

/// Of an operation on a path that a user has named: bad_input if the path leads nowhere, else io.
fault_code code_of(const std::error_code& why) noexcept;

/// The system's reason: a folder that may not be entered, a name that is too long. Empty if the system knows what is
/// there, or that nothing is.
std::string why_unknown(const std::filesystem::path& path);

/// file_type::not_found if nothing is there. Throws fault_error{bad_input} `OPTION PATH: WHY` where that is unknown.
std::filesystem::file_type kind_of(const std::filesystem::path& path, std::string_view option = {});

/// Normal, and without a slash at its end: "runs/x" for "runs/./x/".
std::filesystem::path without_end(const std::filesystem::path& path);

/// A link to a folder on the way to it: a walk that follows it never ends.
bool leads_back(const std::filesystem::directory_entry& entry) noexcept;

}  // namespace hydra
