#pragma once
// Is a folder still what durable_folder has written?

#include <filesystem>

namespace hydra {

/// Reads every file. Throws fault_error{damaged} with the folder and the first file that is missing, is listed twice, has
/// another SHA-256 than SHA256SUMS says, or is not listed there; also if SHA256SUMS is missing or no such list. {io} with the
/// system's reason if a file cannot be read: that says nothing of what is written there.
void verify_folder(const std::filesystem::path& folder);

/// The same for a folder that others may have added files to: those that SHA256SUMS does not list are not looked at.
void verify_listed(const std::filesystem::path& folder);

}  // namespace hydra
