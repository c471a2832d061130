#include "runtime/base/duration_histogram.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace hydra;

TEST_CASE("the mean of a million durations is exact, in the memory of one") {
  duration_histogram h;
  for (int i = 0; i < 1'000'000; ++i) h.add(duration{i});
  CHECK(h.count() == 1'000'000);
  CHECK(h.mean() == duration{499'999});
  STATIC_REQUIRE(sizeof(h) < 10'000);
}

TEST_CASE("a quantile is that of the sorted durations, at most a sixteenth longer") {
  std::mt19937_64 random{7};
  std::lognormal_distribution<double> lengths{8, 3};
  duration_histogram h;
  std::vector<std::int64_t> all;
  for (int i = 0; i < 20'000; ++i) {
    all.push_back(static_cast<std::int64_t>(lengths(random)));
    h.add(duration{all.back()});
  }
  std::ranges::sort(all);
  for (const double q : {0.0, 0.5, 0.9, 0.99}) {
    const auto exact = all[static_cast<std::size_t>(static_cast<double>(all.size()) * q)];
    INFO(q << " " << exact);
    CHECK(h.quantile(q).count() >= exact);
    CHECK(static_cast<double>(h.quantile(q).count()) <= static_cast<double>(exact) * (1 + 1.0 / 16) + 1);
  }
}

TEST_CASE("no quantile is longer than the longest") {
  duration_histogram h;
  h.add(duration{1000});
  CHECK(h.quantile(0.99) == duration{1000});
}

TEST_CASE("an empty histogram has neither mean nor quantile") {
  CHECK(duration_histogram{}.mean() == duration{});
  CHECK(duration_histogram{}.quantile(0.99) == duration{});
}

TEST_CASE("extreme durations, and negative ones, have a bucket") {
  duration_histogram h;
  h.add(duration::max());
  h.add(duration{-5});
  CHECK(h.quantile(0.99) == duration::max());
  CHECK(h.quantile(0) == duration{});
}
