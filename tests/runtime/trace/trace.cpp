#include "runtime/trace/trace.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/in_parallel.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <set>

using namespace hydra;
using namespace hydra::literals;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr time_point origin{1000s};

span bar(std::string name, std::string track, duration begin, duration length, std::string detail = "") {
  return {std::move(name), std::move(track), origin + begin, origin + begin + length, std::move(detail)};
}

/// The events as a reader of the written file sees them.
json file_of(const trace& t) {
  const test::temporary_folder folder;
  t.write(folder.path() / "trace.json");
  return json::parse(std::ifstream{folder.path() / "trace.json"});
}

std::vector<json> events_of(const trace& t) { return file_of(t).at("traceEvents"); }

std::vector<json> of_phase(const std::vector<json>& events, const char* phase) {
  std::vector<json> some;
  std::ranges::copy_if(events, std::back_inserter(some), [&](const json& e) { return e.at("ph") == phase; });
  return some;
}

}  // namespace

TEST_CASE("spans are written with times in microseconds from the earliest") {
  trace t;
  t.record(bar("forward", "cpu:0 compute", 5ms, 1500ns, "gpt-a shard 3"));
  t.record(bar("h2d parameters", "cpu:0 h2d", 2ms, 3ms));
  const auto bars = of_phase(events_of(t), "X");
  REQUIRE(bars.size() == 2);
  REQUIRE(bars[0].at("name") == "forward");
  REQUIRE(bars[0].at("ts") == 3000.0);
  REQUIRE(bars[0].at("dur") == 1.5);
  REQUIRE(bars[0].at("args").at("detail") == "gpt-a shard 3");
  REQUIRE(bars[1].at("ts") == 0.0);
  REQUIRE_FALSE(bars[1].contains("args"));
}

TEST_CASE("each device is a process and each queue a thread of it, with their names") {
  trace t;
  for (const char* track : {"cpu:0 compute", "cpu:0 h2d", "cpu:1 compute", "optimizer", "cpu:0 compute"})
    t.record(bar("work", track, 0ms, 1ms));
  const auto events = events_of(t);
  std::map<int, std::set<int>> threads_of;
  for (const auto& e : of_phase(events, "X")) threads_of[e.at("pid")].insert(e.at("tid").get<int>());
  REQUIRE(threads_of.size() == 3);
  std::map<std::string, std::string> process_name, thread_name;  // by "pid/tid"
  for (const auto& e : of_phase(events, "M")) {
    auto& names = e.at("name") == "process_name" ? process_name : thread_name;
    names[e.at("pid").dump() + "/" + e.at("tid").dump()] = e.at("args").at("name");
  }
  std::multiset<std::string> shown;
  for (const auto& [place, name] : thread_name) shown.insert(process_name.at(place) + "|" + name);
  REQUIRE(shown == std::multiset<std::string>{"cpu:0|compute", "cpu:0|h2d", "cpu:1|compute", "optimizer|optimizer"});
}

TEST_CASE("names given by users are escaped") {
  trace t;
  t.record(bar("quote \" backslash \\ line\n", "cpu:0 compute", 0ms, 1ms, "not UTF-8: \xff"));
  const auto bars = of_phase(events_of(t), "X");
  REQUIRE(bars.at(0).at("name") == "quote \" backslash \\ line\n");
}

TEST_CASE("a trace without spans is a valid file") { REQUIRE(events_of(trace{}).empty()); }

TEST_CASE("a trace that cannot be written is a fault") {
  trace t;
  REQUIRE_THROWS_AS(t.write("no/such/folder/trace.json"), fault_error);
}

TEST_CASE("several threads may record at once") {
  trace t;
  test::in_parallel(20000, [&](int i) { t.record(bar(std::to_string(i), "cpu:0 compute", 0ms, 1ms)); });
  std::set<std::string> names;
  for (const auto& s : t.spans()) names.insert(s.name);
  REQUIRE(names.size() == 20000);
}

TEST_CASE("a million spans take no more memory than the limit, and the newest are kept") {
  trace t{2_MiB};
  constexpr int n = 1'000'000;
  for (int i = 0; i < n; ++i)
    t.record(bar("execute_shard", "cpu:0 compute", i * 1us, 1us, "gpt-a forward " + std::to_string(i)));
  REQUIRE(t.bytes() <= 2_MiB);
  const auto kept = t.spans();
  REQUIRE(kept.size() > 10'000);
  REQUIRE(t.dropped() == n - kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i)
    REQUIRE(kept[i].detail == "gpt-a forward " + std::to_string(t.dropped() + i));
}

TEST_CASE("the file says how many earlier spans were dropped and when it begins, in the time of the whole run") {
  trace t{1_MiB};
  for (int i = 0; i < 100'000; ++i) t.record(bar("work", "cpu:0 compute", i * 1us, 1us));
  const auto file = file_of(t);
  REQUIRE(file.at("otherData").at("dropped_spans") == t.dropped());
  const auto bars = of_phase(file.at("traceEvents"), "X");
  REQUIRE(bars.size() == 100'000 - t.dropped());
  REQUIRE(bars.front().at("ts") == double(t.dropped()));
  REQUIRE(file.at("otherData").at("begins_us") == bars.front().at("ts"));
}

TEST_CASE("a trace that has all its spans does not mention dropped ones, and its bytes are counted") {
  trace t;
  REQUIRE(t.bytes() == 0_B);
  t.record(bar("work", "cpu:0 compute", 0ms, 1ms));
  REQUIRE(t.bytes() > 0_B);
  REQUIRE(t.dropped() == 0);
  REQUIRE_FALSE(file_of(t).contains("otherData"));
}

TEST_CASE("a very long text is shortened") {
  trace t{1_MiB};
  t.record(bar("work", "cpu:0 compute", 0ms, 1ms, std::string(1 << 20, 'x')));
  REQUIRE(t.bytes() <= 1_MiB);
  REQUIRE(t.spans().at(0).detail.size() == 65535);
}
