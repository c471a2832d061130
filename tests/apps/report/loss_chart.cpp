#include "apps/report/loss_chart.hpp"

#include "tests/apps/report/xml_check.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hydra::apps {

using Catch::Contains;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

std::ptrdiff_t occurrences(const std::string& text, const std::string& part) {
  std::ptrdiff_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("each model has a line, each validation a point on a dashed line, and the drawing is well-formed") {
  const std::vector<loss_curve> curves{{"a<b", 0, {3, 2, 1}, {{2, 2.5}, {3, 1.5}}}, {"b", 1, {3, 2.5F}, {}}};
  const std::string svg = loss_chart(curves);
  CHECK(xml_fault(svg) == "");
  CHECK(occurrences(svg, "fill=\"none\"") == 3);
  CHECK(occurrences(svg, "stroke-dasharray") == 1);
  CHECK(occurrences(svg, "<circle") == 2);
  CHECK_THAT(svg, Contains("a&lt;b"));
}

TEST_CASE("points of validation are drawn after all lines, so that no line covers them") {
  const std::string svg = loss_chart(std::vector<loss_curve>{{"a", 0, {3, 2}, {{2, 2.5}}}, {"b", 1, {3, 2}, {}}});
  CHECK(svg.find("<circle class=\"point\"") > svg.rfind("fill=\"none\""));
}

TEST_CASE("a loss that is not finite is a gap, never a coordinate") {
  const std::string svg = loss_chart(std::vector<loss_curve>{{"a", 0, {3, nan, 2, infinite, 1}, {{1, nan}}}});
  CHECK(xml_fault(svg) == "");
  CHECK_THAT(svg, !Contains("nan") && !Contains("inf"));
  CHECK(occurrences(svg.substr(svg.find("<title>a")), "M") == 3);
  CHECK(occurrences(svg, "<circle") == 0);
}

TEST_CASE("without any finite loss there is no chart") {
  CHECK(loss_chart({}).empty());
  CHECK(loss_chart(std::vector<loss_curve>{{"a", 0, {nan}, {}}, {"b", 1, {}, {}}}).empty());
}

TEST_CASE("a long curve is drawn by its running average, with its steps pale behind") {
  const std::vector<float> loss(200, 2.0F);
  const std::string svg = loss_chart(std::vector<loss_curve>{{"a", 0, loss, {}}});
  CHECK(occurrences(svg, "fill=\"none\"") == 2);
  CHECK(svg.find("stroke-opacity") < svg.find("stroke-width=\"1.8\""));
  CHECK_THAT(loss_chart(std::vector<loss_curve>{{"a", 0, {3, 2, 1}, {}}}), !Contains("stroke-opacity"));
}

TEST_CASE("a running average is the mean of as many losses before as behind, without those that are not finite") {
  CHECK(running_average(std::vector<float>{4, 1, 1, 4, 7}, 3) == std::vector<float>{4, 2, 2, 4, 7});
  const auto gap = running_average(std::vector<float>{4, nan, 2, 2, infinite, 6, 4}, 3);
  CHECK(std::isnan(gap[1]));
  CHECK(gap[2] == 2);
  CHECK(gap[4] == infinite);
  CHECK(gap[5] == 5);
  CHECK(running_average(std::vector<float>{4, 1}, 1) == std::vector<float>{4, 1});
  CHECK(running_average({}, 3).empty());
  CHECK(averaged_steps(39) == 1);
  CHECK(averaged_steps(1000) == 51);
}

TEST_CASE("one value alone can be drawn") {
  for (const float v : {2.0F, -1.0F, 0.0F, 4.6e9F, 1e10F, 1.7e10F, 3e38F}) {
    CAPTURE(v);
    const std::string svg = loss_chart(std::vector<loss_curve>{{"a", 0, {v}, {}}});
    CHECK(xml_fault(svg) == "");
    const auto lines = occurrences(svg, "class=\"grid\"");
    CHECK((lines > 0 && lines < 10));
  }
}

TEST_CASE("a model that diverges does not flatten the others") {
  const std::vector<loss_curve> good{{"a", 0, {3, 2}, {}}};
  const std::vector<loss_curve> both{{"a", 0, {3, 2}, {}}, {"b", 1, {3, 1e30F}, {}}};
  CHECK_THAT(loss_chart(both), Contains(">2<") && !Contains("e+30"));
  CHECK_THAT(loss_chart(good), Contains(">2<"));
}

TEST_CASE("a long curve is thinned out and keeps its extremes") {
  std::vector<float> loss(100000, 2.0F);
  loss[777] = 9;
  loss[778] = 1;
  const auto points = thin_out(loss, 100);
  CHECK(points.size() <= 200);
  const auto has = [&](double step, double v) {
    return std::ranges::any_of(points, [&](const curve_point& p) { return p.step == step && p.value == v; });
  };
  CHECK(has(778, 9));
  CHECK(has(779, 1));
  CHECK(std::ranges::is_sorted(points, {}, &curve_point::step));
  CHECK(thin_out(std::vector<float>{1, 2}, 100).size() == 2);
}

TEST_CASE("the curves of many long runs stay small") {
  const std::vector<float> loss(100000, 2.0F);
  std::vector<loss_curve> curves;
  for (std::size_t i = 0; i < 60; ++i) curves.push_back({"model", i, loss, {}});
  CHECK(loss_chart(curves).size() < 1000000);
}

}  // namespace hydra::apps
