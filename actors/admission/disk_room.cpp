#include "actors/admission/disk_room.hpp"

#include "runtime/base/counted.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

namespace {

constexpr const char* what_helps =
    "make room, choose another run folder, or keep less (run.checkpoint.keep; 0 saves nothing)";

}  // namespace

disk_room room_of(std::span<const model_room> models, std::optional<byte_count> free) {
  disk_room room{.models = models.size(), .free = free};
  byte_count written;
  for (const auto& m : models) {
    const byte_count kept = m.size * m.kept;
    room.first += m.there == byte_count{} ? m.size : byte_count{};
    room.most += kept - std::min(kept, m.there);
    written = std::max(written, m.size);
  }
  room.most += written;  // an older one is removed when the new one is complete
  return room;
}

std::string check_room(const disk_room& room, const std::filesystem::path& folder) {
  if (!room.free || room.most <= *room.free) {
    return "";
  }
  const auto place = fmt::format("the file system of \"{}\" has {} free", folder.string(), to_string(*room.free));
  if (room.first > *room.free) {
    throw fault_error(fault_code::does_not_fit,
                      fmt::format("the first checkpoints of {} need {}, but {}: {}", counted(room.models, "model"),
                                  to_string(room.first), place, what_helps));
  }
  return fmt::format("checkpoints of {} may need up to {}, with one that is being written, but {}: {}",
                     counted(room.models, "model"), to_string(room.most), place, what_helps);
}

}  // namespace hydra
