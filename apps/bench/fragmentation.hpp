#pragma once
// How much memory beyond the bytes in use the tensors of a run need, in one range and in pages behind addresses.

#include "apps/bench/measurement.hpp"
#include "apps/bench/recording_device.hpp"
#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

struct fragmentation_options {
  std::filesystem::path workload{"apps/workloads/mixed.toml"};  ///< its devices are virtual
  std::size_t events = 100000;                                  ///< evaluated for each device: the first ones
};

/// One device.
struct fragmentation_row {
  std::string device;
  std::size_t allocations = 0;
  byte_count peak;                 ///< largest sum of bytes in use
  double one_range = 0;            ///< size of the smallest range without pages that fits the trace / peak
  double pages = 0;                ///< memory of the fewest pages (of peak / 768 bytes) that fit the trace / peak
  double moving = 0;               ///< share of the allocations that move pages, with 1/32 of the memory to spare
};

struct fragmentation_result {
  std::string workload;
  std::vector<fragmentation_row> rows;
};

/// Trains the workload once, then evaluates its allocations.
fragmentation_result measure_fragmentation(const fragmentation_options& o);

/// Evaluates one trace.
fragmentation_row fragmentation_of(const std::vector<allocation_trace::event>& trace);

std::string to_table(const fragmentation_result& r);
std::string to_json(const fragmentation_result& r, const machine_description& on);

}  // namespace hydra::apps
