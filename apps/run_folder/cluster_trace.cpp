#include "apps/run_folder/cluster_trace.hpp"

#include "apps/run_folder/recorded_trace.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/trace/trace.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t bytes_of_node = std::uint64_t{16} << 20;  ///< as each of them has kept

fs::path trace_of(const fs::path& run, const std::string& node) {
  return run / "nodes" / node / "ended" / "trace.json";
}

/// One that has joined again counts from then.
std::map<std::string, duration> starts_of(const report& r) {
  std::map<std::string, duration> starts;
  for (const node_report& n : r.cluster.nodes)
    if (n.used) starts[n.name] = n.joined + *n.used;
  return starts;
}

}  // namespace

void join_traces(const fs::path& run, report& r) try {
  const auto starts = starts_of(r);
  trace all{byte_count{bytes_of_node * starts.size()}};
  for (const auto& [node, start] : starts) try {
      read_spans(trace_of(run, node), [&, name = node, begins = start](const span& s) {
        all.record({s.name, name + "/" + s.track, s.begin + begins, s.end + begins, s.detail});
      });
    } catch (const fault_error& e) {
      r.notes.push_back(fmt::format("the timeline of node {} is left out: {}", node, e.what()));
    }
  if (all.bytes() > byte_count{}) all.write(run / "trace.json");
} catch (const fault_error& e) {
  r.notes.push_back(fmt::format("there is no timeline: {}", e.what()));
}

}  // namespace hydra::apps
