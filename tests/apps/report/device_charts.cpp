#include "apps/report/device_charts.hpp"

#include "tests/apps/report/example.hpp"
#include "tests/apps/report/xml_check.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace hydra::apps {

using Catch::Contains;

namespace {

double sum(const breakdown_bar& bar) {
  double total = 0;
  for (const named_seconds& p : bar.parts) total += p.seconds;
  return total;
}

timeline long_run(std::size_t devices, std::size_t spans) {
  timeline t{double(spans), {}};
  for (std::size_t d = 0; d < devices; ++d)
    for (const char* queue : {"compute", "h2d", "d2h"}) {
      t.lanes.push_back({"cpu:" + std::to_string(d), queue, {}});
      for (std::size_t i = 0; i < spans; ++i)
        t.lanes.back().spans.push_back({double(i), double(i) + 0.75, std::uint32_t(i % 7)});
    }
  return t;
}

}  // namespace

TEST_CASE("the timeline has a label for each lane and a colour for each model") {
  const std::string svg = timeline_chart(long_run(2, 10));
  CHECK(xml_fault(svg) == "");
  CHECK_THAT(svg, Contains(">cpu:0<") && Contains(">cpu:1<") && Contains(">h2d<") && Contains(">d2h<"));
}

TEST_CASE("the timeline of a long run on many devices stays below three megabytes") {
  const std::string svg = timeline_chart(long_run(8, 40000));
  CHECK(svg.size() < 3000000);
  CHECK(svg.size() > 100000);
}

TEST_CASE("a trace without spans has no timeline") {
  CHECK(timeline_chart({}).empty());
  CHECK(timeline_chart(long_run(2, 0)).empty());
}

TEST_CASE("the time breakdown is shown as reported, without parts of zero length") {
  const auto bars = breakdown_bars(example_run());
  REQUIRE(bars.size() == 1);
  CHECK(bars[0].parts.size() == 6);
  CHECK(sum(bars[0]) == Approx(10));
  const std::string svg = breakdown_chart(bars);
  CHECK(xml_fault(svg) == "");
  CHECK_THAT(svg, Contains("waits for the optimizer: 0.500 s") && !Contains("exposed d2h"));
}

TEST_CASE("without a time breakdown a bar shows busy, exposed and idle time") {
  recorded_run run = example_run();
  run.breakdown.clear();
  const auto bars = breakdown_bars(run);
  REQUIRE(bars.at(0).parts.size() == 3);
  CHECK(sum(bars[0]) == Approx(10));
  CHECK(bars[0].parts[2].name == "idle");
}

TEST_CASE("impossible times are not drawn") {
  recorded_run run = example_run();
  run.breakdown[0] = {{"compute", -1}, {"actors", std::numeric_limits<double>::quiet_NaN()}, {"new_cause", 2}};
  const std::string svg = breakdown_chart(breakdown_bars(run));
  CHECK(xml_fault(svg) == "");
  CHECK_THAT(svg, Contains("new_cause: 2.000 s") && !Contains("nan") && !Contains("-1"));
  run.summary.makespan = {};
  CHECK(breakdown_bars(run).empty());
  CHECK(breakdown_chart({}).empty());
}

}  // namespace hydra::apps
