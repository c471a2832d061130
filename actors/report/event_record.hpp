#pragma once
// Records of TensorBoard's event files: a protocol buffer "Event" (tensorflow/core/util/event.proto) in the framing of
// TFRecord. Standard library only.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hydra {

/// Values of one step by their tags, "train/loss". `time`: seconds since 1970.
struct scalar_event {
  double time = 0;
  std::uint64_t step = 0;
  std::vector<std::pair<std::string, float>> values;
};

/// The first record of a file.
std::string version_record(double time);
/// Says that steps from 0 on follow: a reader forgets what it has read of them.
std::string start_record(double time);
std::string event_record(const scalar_event& e);

/// CRC-32C (Castagnoli), as RFC 3720 B.4 has it.
std::uint32_t crc32c(std::string_view bytes) noexcept;

}  // namespace hydra
