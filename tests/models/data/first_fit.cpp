#include "models/data/first_fit.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

using namespace hydra;

namespace {

std::vector<std::uint32_t> random_places(std::size_t n, std::uint32_t most, std::uint64_t seed) {
  std::vector<std::uint32_t> places(n);
  std::uint64_t state = seed * 2 + 1;
  for (std::uint32_t& p : places) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    p = static_cast<std::uint32_t>((state >> 33) % (most + 1));
  }
  return places;
}

std::vector<std::uint64_t> filled(const window_plan& plan, const std::vector<std::uint32_t>& places) {
  std::vector<std::uint64_t> all;
  for (std::size_t w = 0; w < plan.size(); ++w) {
    all.push_back(0);
    for (const std::uint32_t record : plan.window(w)) all.back() += places[record];
  }
  return all;
}

}  // namespace

TEST_CASE("each record is in one window, and no window has more than its places") {
  for (const std::size_t n : {0, 1, 2, 63, 64, 65, 1000}) {
    const auto places = random_places(n, 100, n);
    const window_plan plan = first_fit(places, 100, 7);
    std::vector<std::uint32_t> records = plan.records, expected(n);
    std::ranges::sort(records);
    std::iota(expected.begin(), expected.end(), 0u);
    CHECK(records == expected);
    for (const std::uint64_t sum : filled(plan, places)) CHECK(sum <= 100);
  }
}

TEST_CASE("no two windows fit into one") {
  const auto places = random_places(3000, 50, 3);
  auto sums = filled(first_fit(places, 100, 1), places);
  REQUIRE(sums.size() > 2);
  std::ranges::sort(sums);
  CHECK(sums[0] + sums[1] > 100);
  const auto total = std::accumulate(places.begin(), places.end(), std::uint64_t{0});
  CHECK(sums.size() <= (total + 99) / 100 * 17 / 10);
}

TEST_CASE("who shares a window depends on the seed") {
  const auto places = random_places(500, 30, 5);
  CHECK(first_fit(places, 64, 1).records != first_fit(places, 64, 2).records);
  const window_plan by_hand = first_fit(std::vector<std::uint32_t>{3, 3, 3}, 6, 1);
  CHECK(by_hand.begins == std::vector<std::uint64_t>{0, 2, 3});
}
