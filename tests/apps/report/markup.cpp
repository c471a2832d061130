#include "apps/report/markup.hpp"

#include "apps/report/axis.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <set>

namespace hydra::apps {

TEST_CASE("text that means something in HTML is escaped, control characters are left out") {
  CHECK(escaped("<b a=\"1\">&'") == "&lt;b a=&quot;1&quot;&gt;&amp;&#39;");
  CHECK(escaped("a\x01\tb\n\u00E9") == "a\tb\n\u00E9");
}

TEST_CASE("coordinates are short and always numbers") {
  CHECK(coordinate(12.34) == "12.3");
  CHECK(coordinate(3.0) == "3");
  CHECK(coordinate(-0.01) == "0");
  CHECK(coordinate(std::numeric_limits<double>::quiet_NaN()) == "0");
  CHECK(coordinate(std::numeric_limits<double>::infinity()) == "0");
}

TEST_CASE("every model has a colour, and neighbours have different ones") {
  std::set<std::string> colours;
  for (std::size_t i = 0; i < 30; ++i) colours.insert(colour_of(i));
  CHECK(colours.size() == 30);
}

TEST_CASE("an axis maps its ends to its ends and clamps values beyond them") {
  const axis a{0, 10, 100, 0};
  CHECK(a.at(0) == 100);
  CHECK(a.at(5) == 50);
  CHECK(a.at(20) == 0);
  CHECK(a.at(-1) == 100);
  CHECK(axis{3, 3, 1, 2}.at(3) == 1);
}

TEST_CASE("values on an axis are round") {
  CHECK(round_values({0, 10, 0, 1}, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(round_values({0.3, 1.2, 0, 1}, 4) == std::vector<double>{0.5, 1});
  CHECK(round_values({5, 5, 0, 1}, 4).empty());
  CHECK(round_values({1e16, 1e16 + 4, 0, 1}, 6).size() < 10);
  CHECK(round_values({-1e16 - 4, -1e16, 0, 1}, 6).size() < 10);
  CHECK(tick_text(0.30000000000000004) == "0.3");
}

}  // namespace hydra::apps
