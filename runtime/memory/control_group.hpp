#pragma once
// Memory that the process's control groups leave it.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hydra {

/// The least of what is left in the process's own group and in those above it: its limit less what is used, where pages of files
/// that nobody has looked at lately are free (the working set, as cgroups(7) memory.stat's inactive_file tells it). Version 2
/// and version 1 of control groups. Nothing if no group has a limit. `process`: what /proc/self/cgroup says; `root`: where
/// groups are mounted.
std::optional<std::uint64_t> memory_left_in_groups(const std::filesystem::path& process = "/proc/self/cgroup",
                                                   const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace hydra
