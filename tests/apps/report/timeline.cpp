#include "apps/report/timeline.hpp"

#include "apps/run_folder/trace_events.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/trace/trace.hpp"
#include "tests/apps/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace hydra::apps {

using namespace std::chrono_literals;

namespace {

/// A trace as the runtime writes it.
class written_trace {
 public:
  void add(const std::string& name, const std::string& track, duration begin, const std::string& detail) {
    spans_.record({name, track, time_point{} + begin, time_point{} + begin + 1s, detail});
  }
  timeline read(const std::vector<std::string>& devices, const std::vector<std::string>& models) const {
    const temporary_folder folder;
    spans_.write(folder.path() / "trace.json");
    std::ifstream in{folder.path() / "trace.json"};
    return read_timeline(in, "trace.json", devices, models);
  }

 private:
  trace spans_;
};

timeline_lane busy_lane(std::size_t n) {
  timeline_lane lane{"cpu:0", "compute", {}};
  for (std::size_t i = 0; i < n; ++i) lane.spans.push_back({double(i), double(i) + 0.5, i < n / 2 ? 0u : 1u});
  return lane;
}

}  // namespace

TEST_CASE("spans of devices become lanes in the order of the report, coloured by the model they name") {
  written_trace t;
  t.add("execute_shard", "cpu:1 compute", 0s, "gpt b forward 0 step 3 micro-batch 0");
  t.add("demote_shard", "cpu:0 d2h", 1s, "gradients of gpt backward 0 step 0");
  t.add("prefetch_shard", "cpu:0 h2d", 2s, "parameters of stranger forward 0 step 0");
  t.add("step_shard", "host optimizer", 3s, "");
  const timeline line = t.read({"cpu:0", "cpu:1"}, {"gpt", "gpt b"});
  REQUIRE(line.lanes.size() == 6);
  CHECK(line.lanes[1].queue == "h2d");
  CHECK(line.lanes[1].spans.at(0).model == 2);
  CHECK(line.lanes[2].spans.at(0).model == 0);
  CHECK(line.lanes[3].device == "cpu:1");
  CHECK(line.lanes[3].spans.at(0).model == 1);
  CHECK(line.seconds == Approx(3));
}

TEST_CASE("a trace that is cut short is refused by name") {
  std::istringstream in{"{\"traceEvents\": [\n{\"ph\": \"X\", "};
  CHECK_THROWS_WITH(read_timeline(in, "trace.json", {}, {}), Catch::StartsWith("trace.json: no trace of a run"));
}

TEST_CASE("of a trace only its events are read, what is beside or among them is dropped at once") {
  const std::string event =
      R"({"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 1, "args": {"detail": "a", "more": [1]}})";
  std::istringstream in{R"({"otherData": {"dropped_spans": 7, "list": [)" + event + R"(]}, "traceEvents": [1, [)" +
                        event + "], " + event + R"(], "beside": {"a": )" + event + R"(}, "list": [)" + event + "]}"};
  std::vector<nlohmann::json> events;
  CHECK(each_trace_event(in, "trace.json", [&](const nlohmann::json& e) { events.push_back(e); }) == 7);
  REQUIRE(events.size() == 1);
  CHECK(events[0].at("args").at("detail") == "a");
}

TEST_CASE("few spans are drawn one by one") {
  const auto drawn = thin_out(busy_lane(10), 10, 10);
  REQUIRE(drawn.size() == 10);
  CHECK(drawn[3].begin == 3);
  CHECK(drawn[3].end == 3.5);
  CHECK(drawn[3].share == 1);
}

TEST_CASE("many spans become slices that keep their share of time and the model that used it most") {
  const auto drawn = thin_out(busy_lane(1000), 1000, 100);
  REQUIRE(drawn.size() == 100);
  double busy = 0;
  for (const drawn_span& s : drawn) busy += s.share * (s.end - s.begin);
  CHECK(busy == Approx(500));
  CHECK(drawn.front().model == 0);
  CHECK(drawn.back().model == 1);
}

TEST_CASE("slices in which nothing happened are not drawn") {
  timeline_lane lane = busy_lane(1000);
  lane.spans.erase(lane.spans.begin() + 100, lane.spans.end());
  CHECK(thin_out(lane, 1000, 50).size() == 5);
}

}  // namespace hydra::apps
