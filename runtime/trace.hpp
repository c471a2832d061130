#pragma once
// Trace spans, written as Chrome trace events (open trace.json in Perfetto).

#include "runtime/bytes.hpp"

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

/// Collector of spans. Thread-safe.
class trace {
 public:
  trace();
  ~trace();
  void record(span s);
  std::vector<span> spans() const;
  /// Chrome trace event format: one process per device ("cpu:0"), one thread per queue, times in microseconds from
  /// the earliest span. Written to a temporary file and renamed. Throws fault_error{io}.
  void write(const std::filesystem::path& file) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
