#pragma once
// The counters of a device, the times of its units, and its spans.

#include "actors/device/operation_table.hpp"
#include "actors/device/visit_record.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/ticket.hpp"
#include "runtime/trace/trace.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

struct pipeline_counters {
  duration busy{};
  duration exposed_transfer{};     ///< compute queue idle, the next computation waited for copies
  byte_count h2d_bytes;
  byte_count d2h_bytes;
  std::uint64_t hits = 0;          ///< parameters found in the cache
  std::uint64_t misses = 0;
  std::uint64_t saved = 0;         ///< micro-batches of backward visits that had what the forward visit saved
  std::uint64_t recomputed = 0;    ///< those that computed the forward again
};

class pipeline_accounting {
 public:
  /// Both outlive this; `spans` may be null.
  pipeline_accounting(const device& machine, trace* spans) : machine_(machine), spans_(spans) {}

  /// A unit has its W; `hit`: its parameters were in the cache.
  void claimed(bool hit) noexcept { ++(hit ? counters_.hits : counters_.misses); }
  /// Any operation has completed.
  void completed(const operation_record& op, const completion& c);
  /// A computation or a step has completed without error.
  void computed(const operation_record& op, const completion& c);

  const pipeline_counters& counters() const noexcept { return counters_; }

 private:
  struct copy_interval {
    time_point begin;
    time_point end;
  };
  static duration covered(std::vector<copy_interval> copies, time_point begin, time_point end);
  void count_copy_in(const operation_record& op, const completion& c);
  void count_copy_out(const operation_record& op, const completion& c);
  void record_span(const operation_record& op, const completion& c) const;
  void expose(visit_record& v, time_point begin);

  const device& machine_;
  trace* spans_;
  pipeline_counters counters_;
  std::optional<time_point> last_compute_end_;
  std::vector<copy_interval> copies_in_;   ///< completed since the last computation ended
  std::vector<copy_interval> copies_out_;
};

}  // namespace hydra
