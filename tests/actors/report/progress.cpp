#include "actors/report/progress.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

using namespace hydra;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

time_point after(duration d) { return time_point{} + d; }

/// A printer and what it has written since the last check.
struct printed {
  std::ostringstream out;
  progress_printer printer;

  explicit printed(progress_options options) : printer(out, options, time_point{}) {}
  std::string text() {
    auto s = out.str();
    out.str({});
    return s;
  }
};

struct plain : printed {
  plain() : printed({.live = false, .devices = 2, .plain_interval = 10s}) {}
};

struct live : printed {
  explicit live(std::size_t width = 80) : printed({.live = true, .width = width, .live_interval = 100ms}) {}
};

}  // namespace

TEST_CASE("a step shows name, steps, loss, the whole run's fraction, time and estimate", "[progress]") {
  plain p;
  p.printer.expect("a", 4, 1s);
  p.printer.expect("b", 4, 1s);
  p.printer.unit_completed(device_id{1}, 1s, after(19s));
  p.printer.step("a", step_index{1}, 4, 3.25F, after(20s));
  CHECK(p.text() == " 25 %  a 2/4 loss 3.2500  1/2 devices busy  20 s, 1 min 00 s left\n");
}

TEST_CASE("what an earlier run has done counts in the fraction, not in the pace", "[progress]") {
  plain p;
  p.printer.expect("a", 10, 1s, 6);
  CHECK(p.printer.fraction() == Approx(0.6));
  p.printer.step("a", step_index{6}, 10, 3.25F, after(20s));
  CHECK_THAT(p.text(), Contains(" 70 %  a 7/10") && Contains("20 s, 1 min 00 s left"));
  p.printer.finish(after(80s));
  CHECK_THAT(p.text(), Contains("1 step of 1 model"));
}

TEST_CASE("models weigh in the fraction by the time of their steps", "[progress]") {
  plain p;
  p.printer.expect("slow", 2, 3s);
  p.printer.expect("fast", 2, 1s);
  p.printer.step("slow", step_index{0}, 2, 1.0F, after(1s));
  CHECK(p.printer.fraction() == Approx(0.375));
}

TEST_CASE("a model that was not expected joins with the mean weight", "[progress]") {
  plain p;
  p.printer.expect("slow", 1, 3s);
  p.printer.expect("fast", 1, 1s);
  p.printer.step("new", step_index{0}, 2, 1.0F, after(1s));
  CHECK(p.printer.fraction() == Approx(2.0 / 8.0));
}

TEST_CASE("the remaining steps of a model that ended early do not count", "[progress]") {
  plain p;
  p.printer.expect("a", 10, 1s);
  p.printer.expect("b", 10, 1s);
  p.printer.step("a", step_index{4}, 10, 1.0F, after(1s));
  p.printer.left("a");
  p.printer.left("stranger");
  CHECK(p.printer.fraction() == Approx(5.0 / 15.0));
  p.printer.step("b", step_index{9}, 10, 1.0F, after(20s));
  CHECK_THAT(p.text(), Contains("100 %  b 10/10"));
}

TEST_CASE("there is no estimate before the first step", "[progress]") {
  plain p;
  p.printer.expect("a", 2, 1s);
  CHECK_FALSE(p.printer.remaining(after(5s)));
  p.printer.step("a", step_index{0}, 2, 1.0F, after(5s));
  CHECK(p.printer.remaining(after(5s)) == 5s);
}

TEST_CASE("there is no estimate before five steps of each model under way are done", "[progress]") {
  plain p;
  const auto left_after = [&p](const char* name, std::uint32_t steps) {
    p.printer.step(name, step_index{steps - 1}, 1000, 1.0F, after(10s));
    return p.printer.remaining(after(10s)).has_value();
  };
  for (const char* name : {"a", "b", "waiting"}) {
    p.printer.expect(name, 1000, 1s);
  }
  CHECK_FALSE(left_after("a", 1));
  CHECK_FALSE(left_after("a", 4));
  CHECK_FALSE(left_after("b", 5));
  CHECK(left_after("a", 5));
  CHECK(p.printer.remaining(after(10s)) == 2990s);
}

TEST_CASE("of few steps a tenth is enough for an estimate, of a model and of the run", "[progress]") {
  live p;
  p.printer.expect("a", 20, 1s);
  p.printer.step("a", step_index{0}, 20, 1.0F, after(1s));
  CHECK_THAT(p.text(), !Contains("left"));
  p.printer.step("a", step_index{1}, 20, 1.0F, after(2s));
  CHECK_THAT(p.text(), Contains("2 s, 18 s left") && Contains("loss 1.0000  18 s left"));
}

TEST_CASE("plain lines come at each tenth of the run", "[progress]") {
  plain p;
  p.printer.expect("a", 100, 1s);
  std::ptrdiff_t lines = 0;
  for (std::uint32_t n = 0; n < 100; ++n) {
    p.printer.step("a", step_index{n}, 100, 1.0F, after(1ms * n));
    const auto text = p.text();
    lines += std::ranges::count(text, '\n');
    CHECK(text.empty() == ((n + 1) % 10 != 0));
  }
  CHECK(lines == 10);
}

TEST_CASE("plain lines come at least every interval in which a step completes", "[progress]") {
  plain p;
  p.printer.expect("a", 1000, 1s);
  p.printer.step("a", step_index{0}, 1000, 1.0F, after(9s));
  CHECK(p.text().empty());
  p.printer.step("a", step_index{1}, 1000, 1.0F, after(10s));
  CHECK_THAT(p.text(), Contains("a 2/1000"));
  p.printer.step("a", step_index{2}, 1000, 1.0F, after(19s));
  CHECK(p.text().empty());
}

TEST_CASE("the validation loss comes with the next line", "[progress]") {
  plain p;
  p.printer.expect("a", 1, 1s);
  p.printer.evaluated("a", 1.5);
  p.printer.evaluated("stranger", 1.5);
  CHECK(p.text().empty());
  p.printer.step("a", step_index{0}, 1, 1.0F, after(1s));
  CHECK_THAT(p.text(), Contains("loss 1.0000 validation 1.5000"));
}

TEST_CASE("plain lines contain no terminal codes", "[progress]") {
  plain p;
  p.printer.step("a", step_index{0}, 1, 1.0F, after(1s));
  p.printer.finish(after(2s));
  CHECK_THAT(p.text(), !Contains("\r") && !Contains("\x1b"));
}

TEST_CASE("live lines are drawn over themselves, not more often than their interval", "[progress]") {
  live p;
  p.printer.expect("a", 10, 1s);
  p.printer.step("a", step_index{0}, 10, 1.0F, after(100ms));
  const auto first = p.text();
  CHECK_THAT(first, Catch::StartsWith("\r\x1b[J[====>") && Contains(" 10 %") && Contains("\na  1/10  loss 1.0000"));
  CHECK_THAT(first, Catch::EndsWith("\r\x1b[1A"));
  p.printer.step("a", step_index{1}, 10, 1.0F, after(199ms));
  CHECK(p.text().empty());
  p.printer.step("a", step_index{2}, 10, 1.0F, after(200ms));
  CHECK_THAT(p.text(), Contains("a  3/10"));
}

TEST_CASE("the cursor goes up as many lines as were drawn", "[progress]") {
  live p;
  for (const char* name : {"a", "b", "c"}) {
    p.printer.expect(name, 10, 1s);
  }
  p.printer.step("b", step_index{0}, 10, 1.0F, after(1s));
  const auto text = p.text();
  CHECK(std::ranges::count(text, '\n') == 3);
  CHECK_THAT(text, Catch::EndsWith("\x1b[3A"));
}

TEST_CASE("live lines are shorter than the terminal is wide", "[progress]") {
  live p{20};
  p.printer.step("a model with a very long name", step_index{0}, 1, 1.0F, after(1s));
  CHECK(p.text() == "\r\x1b[J100 %  1 s, 0 s lef\na model with a very\r\x1b[1A");
}

TEST_CASE("a model's remaining time follows its own pace, up to the run's", "[progress]") {
  live p;
  p.printer.expect("quick", 10, 1s);
  p.printer.expect("slow", 10, 1s);
  p.printer.step("quick", step_index{7}, 10, 1.0F, after(8s));
  p.text();
  p.printer.step("slow", step_index{1}, 10, 1.0F, after(10s));
  CHECK_THAT(p.text(), Contains("10 s, 10 s left") && Contains("quick  8/10  loss 1.0000  2 s left") &&
                           Contains("slow   2/10  loss 1.0000  10 s left"));
}

TEST_CASE("a device is busy from a completed unit until the next is overdue", "[progress]") {
  printed p{{.live = true, .devices = 2, .live_interval = 1ms}};
  p.printer.expect("a", 10, 1s);
  p.printer.unit_completed(device_id{0}, 10s, after(1s));
  CHECK_THAT(p.text(), Contains("1/2 devices busy"));
  p.printer.unit_completed(device_id{1}, 1ms, after(2s));
  CHECK_THAT(p.text(), Contains("2/2 devices busy"));
  p.printer.step("a", step_index{0}, 10, 1.0F, after(4s));
  CHECK_THAT(p.text(), Contains("1/2 devices busy"));
  p.printer.step("a", step_index{1}, 10, 1.0F, after(40s));
  CHECK_THAT(p.text(), Contains("0/2 devices busy"));
}

TEST_CASE("units are not reason for plain lines", "[progress]") {
  plain p;
  p.printer.unit_completed(device_id{0}, 1s, after(100s));
  CHECK(p.text().empty());
}

TEST_CASE("the last line takes the place of the live ones and sums up", "[progress]") {
  live p;
  p.printer.step("a", step_index{2}, 3, 1.0F, after(1s));
  p.printer.step("b", step_index{0}, 3, 1.0F, after(1s));
  p.text();
  p.printer.finish(after(65s));
  CHECK(p.text() == "\r\x1b[J4 steps of 2 models in 1 min 05 s\n");
}
