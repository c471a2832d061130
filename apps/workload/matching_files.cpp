#include "apps/workload/matching_files.hpp"

#include <glob.h>

namespace hydra::apps {

std::vector<std::filesystem::path> matching_files(const std::string& pattern) {
  std::error_code ignored;
  if (pattern.find_first_of("*?[") == std::string::npos || std::filesystem::exists(pattern, ignored)) return {pattern};
  glob_t found{};
  std::vector<std::filesystem::path> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return files;
}

}  // namespace hydra::apps
