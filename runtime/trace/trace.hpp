#pragma once
// Trace spans, written as Chrome trace events (open trace.json in Perfetto).

#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// One bar of the trace. `track` is its row ("cpu:0 compute"); `name` is the message or phase.
struct span {
  std::string name;
  std::string track;
  time_point begin;
  time_point end;
  std::string detail;
};

/// Keeps the newest spans: a long run drops its earliest ones. Thread-safe.
class trace {
 public:
  /// `limit`: of the memory for spans.
  explicit trace(byte_count limit = byte_count{std::uint64_t{16} << 20});
  ~trace();
  void record(const span& s);
  /// In the order recorded.
  std::vector<span> spans() const;
  /// Memory in use; never more than the limit.
  byte_count bytes() const;
  /// Number of earlier spans that were dropped.
  std::uint64_t dropped() const;
  /// Chrome trace event format: one process per device ("cpu:0"), one thread per queue, times in microseconds from the
  /// earliest span recorded. If some were dropped, "otherData" has their number ("dropped_spans") and the start of the
  /// earliest span that is left ("begins_us"). Written to a temporary file and renamed. Throws fault_error{io}.
  void write(const std::filesystem::path& file) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
