#pragma once
// Trace spans, written as Chrome trace events (open trace.json in Perfetto).

#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// One bar of the trace. `track` groups ("cpu:0 compute"); name is the message or phase.
struct span {
  std::string name;
  std::string track;
  time_point begin;
  time_point end;
  std::string detail;
};

/// Collector of the newest spans: a long run drops its earliest ones. Thread-safe.
class trace {
 public:
  /// `limit`: of the memory that spans take.
  explicit trace(byte_count limit = byte_count{std::uint64_t{16} << 20});
  ~trace();
  void record(const span& s);
  /// In the order recorded.
  std::vector<span> spans() const;
  /// Memory that is held; never more than the limit.
  byte_count bytes() const;
  /// Earlier spans that are not held any more.
  std::uint64_t dropped() const;
  /// Chrome trace event format: one process per device ("cpu:0"), one thread per queue, times in microseconds from
  /// the earliest span recorded. If some were dropped, "otherData" says how many ("dropped_spans") and when the earliest
  /// one that is left begins ("begins_us"). Written to a temporary file and renamed. Throws fault_error{io}.
  void write(const std::filesystem::path& file) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
