#include "runtime/memory/control_group.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace hydra {

namespace {

namespace fs = std::filesystem;

/// File names of a version of control groups.
struct group_files {
  fs::path root;
  const char* limit;
  const char* used;
  std::string_view inactive;   ///< in memory.stat
};

/// "max" means no limit.
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in{file};
  std::uint64_t n = 0;
  return in >> n ? std::optional{n} : std::nullopt;
}

std::uint64_t inactive_in(const fs::path& file, std::string_view wanted) {
  std::ifstream in{file};
  std::uint64_t n = 0;
  for (std::string key; in >> key >> n;)
    if (key == wanted) return n;
  return 0;
}

std::optional<std::uint64_t> left_in(const fs::path& group, const group_files& files) {
  const auto limit = number_in(group / files.limit), used = number_in(group / files.used);
  if (!limit || !used) return std::nullopt;
  const std::uint64_t kept = *used - std::min(*used, inactive_in(group / "memory.stat", files.inactive));
  return *limit - std::min(*limit, kept);
}

std::optional<std::uint64_t> smaller(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

/// Of the group and its ancestors. Inside a container the container's group is mounted at the root, whatever its path
/// says.
std::optional<std::uint64_t> least_left(const fs::path& path, const group_files& files) {
  std::optional<std::uint64_t> least = left_in(files.root, files);
  for (fs::path at = path.relative_path(); !at.empty(); at = at.parent_path())
    least = smaller(least, left_in(files.root / at, files));
  return least;
}

}  // namespace

/// Lines are "NUMBER:CONTROLLERS:PATH"; that of version 2 has no controllers.
std::optional<std::uint64_t> memory_left_in_groups(const fs::path& process, const fs::path& root) {
  const group_files unified{root, "memory.max", "memory.current", "inactive_file"};
  const group_files separate{root / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
  std::optional<std::uint64_t> least;
  std::ifstream in{process};
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers == ",,") least = smaller(least, least_left(line.substr(second + 1), unified));
    if (controllers.find(",memory,") != line.npos)
      least = smaller(least, least_left(line.substr(second + 1), separate));
  }
  return least;
}

}  // namespace hydra
