// What samples promise.

#include "tests/support/depth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

using namespace hydra::test;

TEST_CASE("in covering rows every two values of different axes meet, in far fewer rows than the product has") {
  const std::vector<std::size_t> sizes{3, 2, 4, 2, 3};
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const auto rows = covering_rows(sizes, seed);
    std::set<std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>> met;
    for (const auto& r : rows) {
      for (std::size_t a = 0; a < r.size(); ++a) {
        for (std::size_t b = a + 1; b < r.size(); ++b) met.emplace(a, b, r[a], r[b]);
      }
    }
    CHECK(met.size() == 6 + 12 + 6 + 9 + 8 + 4 + 6 + 8 + 12 + 6);
    CHECK(rows.size() <= 20);
  }
  CHECK(product_rows(sizes).size() == 144);
}

TEST_CASE("a sample has one value of each of its equal parts") {
  std::vector<int> all(100);
  std::iota(all.begin(), all.end(), 0);
  const auto some = sampled(all, 8);
  if (is_deep()) {
    CHECK(some == all);
    return;
  }
  REQUIRE(some.size() == 8);
  for (std::size_t i = 0; i < some.size(); ++i) {
    CHECK(some[i] >= static_cast<int>(100 * i / 8));
    CHECK(some[i] < static_cast<int>(100 * (i + 1) / 8));
  }
}
