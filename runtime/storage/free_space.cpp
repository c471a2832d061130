#include "runtime/storage/free_space.hpp"

#include <system_error>

namespace hydra {

namespace fs = std::filesystem;

std::optional<byte_count> free_space(const fs::path& folder) {
  std::error_code error;
  fs::path there = fs::absolute(folder, error).lexically_normal();
  while (!error && !fs::exists(there, error) && there != there.parent_path()) there = there.parent_path();
  const fs::space_info space = fs::space(there, error);
  return error || space.capacity == 0 ? std::nullopt : std::optional{byte_count{space.available}};
}

}  // namespace hydra
