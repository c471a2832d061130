#include "actors/report/progress_lines.hpp"

#include "actors/report/text_table.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using namespace std::chrono_literals;
using Catch::Contains;

namespace progress_lines_test {

model_progress model(const std::string& name, std::uint32_t done, duration left) {
  return {.name = name, .done = done, .steps = 50, .loss = 2.5F, .left = left};
}

progress_state half_done() {
  return {.fraction = 0.5, .elapsed = 20s, .left = 20s, .busy = 1, .devices = 2,
          .models = {model("gpt-a", 5, 1min), model("b", 45, 2s), model("c", 25, 30s)}};
}

TEST_CASE("the overall line has a bar, the share, the devices and the times", "[progress]") {
  CHECK(overall_line(half_done(), 70) == "[=============>            ]   50 %  1/2 devices busy  20 s, 20 s left");
}

TEST_CASE("the bar is empty at the start, full at the end, and not wider than needed", "[progress]") {
  auto s = half_done();
  s.fraction = 0;
  s.left.reset();
  CHECK(overall_line(s, 200) == "[>" + std::string(39, ' ') + "]    0 %  1/2 devices busy  20 s");
  s.fraction = 1;
  CHECK_THAT(overall_line(s, 200), Catch::StartsWith("[" + std::string(40, '=') + "]  100 %"));
}

TEST_CASE("a narrow terminal gets no bar, a very narrow one a part of the text", "[progress]") {
  CHECK(overall_line(half_done(), 45) == " 50 %  1/2 devices busy  20 s, 20 s left");
  CHECK(overall_line(half_done(), 12) == " 50 %  1/2 d");
}

TEST_CASE("devices that are not counted are not shown", "[progress]") {
  auto s = half_done();
  s.devices = 0;
  CHECK_THAT(overall_line(s, 80), !Contains("devices"));
}

TEST_CASE("every model has its steps, its loss and what is left, in columns", "[progress]") {
  const auto lines = progress_lines(half_done(), 80, 8);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == "gpt-a   5/50  loss 2.5000  1 min 00 s left");
  CHECK(lines[2] == "b      45/50  loss 2.5000  2 s left");
}

TEST_CASE("a model that was evaluated shows its last validation loss", "[progress]") {
  auto s = half_done();
  s.models[0].validation = 2.25;
  CHECK_THAT(progress_lines(s, 80, 8)[1], Contains("loss 2.5000 validation 2.2500"));
  CHECK_THAT(plain_line(s, s.models[0]), Contains("loss 2.5000 validation 2.2500  1/2"));
}

TEST_CASE("of many models those with the longest way to go are shown, in the order of the workload", "[progress]") {
  const auto lines = progress_lines(half_done(), 80, 2);
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[1], Catch::StartsWith("gpt-a"));
  CHECK_THAT(lines[2], Catch::StartsWith("c "));
  CHECK(lines[3] == "and 1 more");
}

TEST_CASE("a model that has not started goes before others, one that is done behind them", "[progress]") {
  auto s = half_done();
  s.models[1] = {.name = "new", .done = 0, .steps = 50, .loss = {}, .left = {}};
  s.models[0].done = 50;
  const auto lines = progress_lines(s, 80, 1);
  CHECK(lines[1] == "new  0/50");
  CHECK_THAT(progress_lines(s, 80, 3)[1], Contains("50/50") && Contains("done"));
}

TEST_CASE("a model that was stopped goes behind others, and shows how far it came", "[progress]") {
  auto s = half_done();
  s.models[0].ended_early = true;
  CHECK_THAT(progress_lines(s, 80, 1)[1], Catch::StartsWith("c "));
  CHECK(progress_lines(s, 80, 3)[1] == "gpt-a   5/50  loss 2.5000  ended");
}

TEST_CASE("no line is wider than the terminal, whatever the names", "[progress]") {
  auto s = half_done();
  s.models[0].name = std::string(200, 'x');
  for (const std::size_t width : {1, 10, 40, 79})
    CHECK(std::ranges::all_of(progress_lines(s, width, 2), [=](const auto& l) { return text_width(l) <= width; }));
}

TEST_CASE("coarse times have two parts at most", "[progress]") {
  CHECK(coarse_time(900ms) == "0 s");
  CHECK(coarse_time(59s) == "59 s");
  CHECK(coarse_time(60s) == "1 min 00 s");
  CHECK(coarse_time(3599s) == "59 min 59 s");
  CHECK(coarse_time(2h + 5min + 59s) == "2 h 05 min");
}

}  // namespace progress_lines_test
