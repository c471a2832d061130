#pragma once
// Whether the checkpoints of a run have room in the file system of its folder.

#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace hydra {

/// Of one model.
struct model_room {
  byte_count size{};       ///< of a checkpoint
  std::uint32_t kept = 0;  ///< checkpoints that it has at a time, its best state included
  byte_count there{};      ///< what it has already
};

/// Of all models.
struct disk_room {
  std::size_t models = 0;
  byte_count first{};               ///< a checkpoint of each that has none yet
  byte_count most{};                ///< all that come in addition to what is there, and one that is being written
  std::optional<byte_count> free{}; ///< in the file system; none: not known
};

disk_room room_of(std::span<const model_room> models, std::optional<byte_count> free);

/// A warning for people if the checkpoints may not find room, else empty. Throws fault_error{does_not_fit} if not even
/// the first of each model does. `folder`: of the run.
std::string check_room(const disk_room& room, const std::filesystem::path& folder);

}  // namespace hydra
