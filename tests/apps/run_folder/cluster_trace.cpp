#include "apps/run_folder/cluster_trace.hpp"

#include "apps/run_folder/recorded_trace.hpp"
#include "runtime/trace/trace.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <string>

using namespace hydra;
using namespace hydra::apps;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace cluster_trace_test {

namespace fs = std::filesystem;

/// A node's timeline: one unit of its model, long after its clock began.
void write_trace(const fs::path& run, const std::string& node) {
  const auto ended = run / "nodes" / node / "ended";
  fs::create_directories(ended);
  trace t;
  t.record(
      {"execute_shard", "cpu:0 compute", time_point{77h}, time_point{77h + 5ms}, "m-" + node + " forward 0 step 0"});
  t.write(ended / "trace.json");
}

node_report node_of(const std::string& name, duration joined, std::optional<duration> used) {
  node_report n;
  n.name = name;
  n.joined = joined;
  n.used = used;
  return n;
}

std::map<std::string, span> spans_of(const fs::path& run) {
  std::map<std::string, span> all;
  read_spans(run / "trace.json", [&](const span& s) { all[s.track] = s; });
  return all;
}

TEST_CASE("the timelines of nodes are joined, each from where its first model began") {
  const test::temporary_folder run;
  write_trace(run.path(), "a");
  write_trace(run.path(), "b");
  report r;
  r.cluster.nodes = {node_of("a", 0s, 10ms), node_of("b", 0s, 1s), node_of("b", 2s, 500ms),  // it has joined again
                     node_of("idle", 1s, std::nullopt)};
  join_traces(run.path(), r);
  const auto spans = spans_of(run.path());
  REQUIRE(spans.size() == 2);
  const auto& a = spans.at("a/cpu:0 compute");
  const auto& b = spans.at("b/cpu:0 compute");
  CHECK(a.detail == "m-a forward 0 step 0");
  CHECK(b.begin - a.begin == 2490ms);
  CHECK(b.end - b.begin == 5ms);
  CHECK(r.notes.empty());
}

TEST_CASE("a timeline that is missing is left out, with a note; without any there is none") {
  const test::temporary_folder run;
  report r;
  r.cluster.nodes = {node_of("a", 0s, 0s)};
  join_traces(run.path(), r);
  CHECK_FALSE(fs::exists(run.path() / "trace.json"));
  REQUIRE(r.notes.size() == 1);
  CHECK_THAT(r.notes[0], Catch::Contains("node a"));
  write_trace(run.path(), "b");
  r.cluster.nodes.push_back(node_of("b", 0s, 0s));
  join_traces(run.path(), r);
  CHECK(spans_of(run.path()).size() == 1);
}

}  // namespace cluster_trace_test
