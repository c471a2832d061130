#pragma once
// Folders whose files other processes pull.

#include "actors/protocol/cluster.hpp"
#include "runtime/base/regular_file.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <vector>

namespace hydra {

/// Keeps the files open: they can be read although their folder is removed. For one thread.
class folder_source {
 public:
  /// All files of these folders. `from` will be asked for them. Throws fault_error{io}.
  offered_folders offer(std::span<const std::filesystem::path> folders, const chunk_source& from);
  /// At most as many bytes as are wanted, fewer at the end of a file.
  chunk read(const want_chunk& wanted) const;
  void drop(std::uint64_t offer);

  std::size_t offers() const noexcept { return offers_.size(); }

 private:
  std::map<std::uint64_t, std::vector<regular_file>> offers_;
  std::uint64_t last_ = 0;
};

}  // namespace hydra
