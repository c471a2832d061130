#pragma once
// What the devices did and when, read from trace.json.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace hydra::apps {

/// Seconds since the earliest span of the trace.
struct timeline_span {
  double begin = 0;
  double end = 0;
  std::uint32_t model = 0;  ///< position in the report; the number of models: none of them
};

/// One queue of one device.
struct timeline_lane {
  std::string device;
  std::string queue;  ///< "compute", "h2d" or "d2h"
  std::vector<timeline_span> spans;
};

struct timeline {
  double seconds = 0;
  std::vector<timeline_lane> lanes;  ///< devices in the order of the report; of each compute, h2d, d2h
};

/// Chrome trace events -> lanes of `devices`. Event by event: the file of a long run does not fit in memory as a tree.
/// Throws fault_error{bad_input} with `name` in front if it is not JSON.
timeline read_timeline(std::istream& in, const std::string& name, std::span<const std::string> devices,
                       std::span<const std::string> models);

/// A part of a lane as it is drawn. If there are too many spans to draw each, it is a slice of time in which `model`
/// was busiest, and `share` says how busy the lane was.
struct drawn_span {
  double begin = 0;
  double end = 0;
  std::uint32_t model = 0;
  double share = 1;  ///< in (0, 1]
};

/// At most `limit` parts (`limit` is at least 1): the spans themselves if they are few enough, else slices of equal
/// length.
std::vector<drawn_span> thin_out(const timeline_lane& lane, double seconds, std::size_t limit);

}  // namespace hydra::apps
