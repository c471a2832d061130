#pragma once
// Checks that a folder is still as durable_folder has written it.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace hydra {

/// Reads every file. Throws fault_error{damaged} with the folder and the first file that is missing, is listed twice,
/// has another SHA-256 than SHA256SUMS says, or is not listed; also if SHA256SUMS is missing or is not such a list.
/// Throws {io} with the system's reason if a file cannot be read: that says nothing about its content.
void verify_folder(const std::filesystem::path& folder);

/// The same for a folder that others may have added files to: files that SHA256SUMS does not list are ignored.
void verify_listed(const std::filesystem::path& folder);

/// The first of the listed files that `among` chooses and that has another SHA-256; reads no others. Throws as
/// verify_listed() if such a file is missing, or the list is.
std::optional<std::string> changed_file(const std::filesystem::path& folder,
                                        const std::function<bool(const std::string& file)>& among);

}  // namespace hydra
