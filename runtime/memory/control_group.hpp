#pragma once
// Memory that is left within the limits of the process's control groups.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hydra {

/// The minimum, over the process's own group and its ancestors, of the limit minus what is used, where inactive file
/// pages count as free (the working set: memory.stat's inactive_file, see cgroups(7)). Supports version 2 and version 1
/// of control groups. Empty if no group has a limit. `process`: the content of /proc/self/cgroup; `root`: where the
/// groups are mounted.
std::optional<std::uint64_t> memory_left_in_groups(const std::filesystem::path& process = "/proc/self/cgroup",
                                                   const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace hydra
