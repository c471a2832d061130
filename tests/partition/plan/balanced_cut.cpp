#include "partition/plan/balanced_cut.hpp"

#include "tests/support/random_profile.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <tuple>

using namespace hydra;
using namespace hydra::test;

namespace balanced_cut_test {

constexpr byte_count unlimited{std::uint64_t{1} << 50};

/// Every way to cut `layers` layers, the lexicographically smallest first among those of equal length.
std::vector<cut_points> all_cuts(std::size_t layers) {
  std::vector<cut_points> all;
  for (std::size_t bits = 0; bits < std::size_t{1} << (layers - 1); ++bits) {
    cut_points cuts{0};
    for (std::size_t i = 1; i < layers; ++i) {
      if (bits >> (i - 1) & 1) {
        cuts.push_back(i);
      }
    }
    all.push_back(std::move(cuts));
  }
  std::ranges::sort(all);
  return all;
}

struct tried {
  cut_cost cost;
  cut_points cuts;
};

/// None if they do not fit.
std::optional<tried> try_cuts(const chain_profile& p, const cut_limits& limits, const cut_points& cuts) {
  cut_cost cost{cuts.size(), {}};
  for (std::size_t s = 0; s < cuts.size(); ++s) {
    const auto last = last_layer(cuts, s, p.layers.size());
    if (!fits(demand_of(p, cuts[s], last), limits)) {
      return std::nullopt;
    }
    cost.largest = std::max(cost.largest, visit_time(p, cuts[s], last));
  }
  return tried{cost, cuts};
}

/// Those that fit, the lexicographically smallest first.
std::vector<tried> fitting_cuts(const chain_profile& p, const cut_limits& limits) {
  std::vector<tried> all;
  for (const auto& cuts : all_cuts(p.layers.size())) {
    if (auto fitting = try_cuts(p, limits, cuts)) {
      all.push_back(*std::move(fitting));
    }
  }
  return all;
}

/// By trying every cut.
std::optional<tried> best_of_all(const chain_profile& p, const cut_limits& limits) {
  const auto all = fitting_cuts(p, limits);
  const auto best = std::ranges::min_element(all, {}, &tried::cost);
  return best == all.end() ? std::nullopt : std::optional(*best);
}

/// The same, of those with up to so many shards, of which there is one.
tried shortest_visits(const chain_profile& p, const cut_limits& limits, std::size_t shards) {
  const auto all = fitting_cuts(p, limits);
  const auto key = [shards](const tried& t) {
    return std::tuple{t.cuts.size() > shards, t.cost.largest, t.cuts.size()};
  };
  return *std::ranges::min_element(all, {}, key);
}

/// Limits around what the chain needs: some too small, some that let all of it be one shard.
cut_limits random_limits(std::mt19937& random) { return {some_bytes(random, 400), some_bytes(random, 150)}; }

TEST_CASE("the balanced cut is the best of all cuts: fewest shards, smallest largest visit, smallest cut points") {
  std::mt19937 random(11);
  std::size_t fitting = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto p = random_profile(random, 1 + random() % 9);
    const auto limits = random_limits(random);
    const piece_table pieces(p, unlimited);
    const balanced_cuts balanced(pieces, limits);
    const auto expected = best_of_all(p, limits);
    REQUIRE(balanced.cost().has_value() == expected.has_value());
    if (expected) {
      CHECK(*balanced.cost() == expected->cost);
      CHECK(balanced.cuts() == expected->cuts);
      fitting += expected->cuts.size() > 1 ? 1 : 0;
    }
  }
  CHECK(fitting > 100);  // the limits do ask for cuts
}

/// All fit, in those of `coarse` and perhaps some more.
void check_divided(const chain_profile& p, const cut_limits& limits, const cut_points& cuts, const tried& coarse) {
  CHECK(std::ranges::includes(cuts, coarse.cuts));
  const auto divided = try_cuts(p, limits, cuts);
  REQUIRE(divided);
  CHECK(divided->cost.largest <= coarse.cost.largest);
}

TEST_CASE("a balanced cut into so many shards has the smallest largest visit of all with up to so many") {
  std::mt19937 random(14);
  std::size_t finer = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto p = random_profile(random, 1 + random() % 9);
    const auto limits = random_limits(random);
    const auto fewest = best_of_all(p, limits);
    if (!fewest) {
      continue;
    }
    const std::size_t shards = 1 + random() % 9;
    const piece_table pieces(p, unlimited);
    const balanced_cuts balanced(pieces, limits, {.shards = shards});
    const auto expected = shards > fewest->cuts.size() ? shortest_visits(p, limits, shards) : *fewest;
    check_divided(p, limits, balanced.cuts(), expected);
    CHECK(balanced.cuts().size() <= std::max(shards, expected.cuts.size()));
    CHECK(*balanced.cost() == cut_cost{std::max(shards, expected.cuts.size()), expected.cost.largest});
    finer += expected.cuts.size() > fewest->cuts.size() ? 1 : 0;
  }
  CHECK(finer > 100);
}

TEST_CASE("where memory allows it, a balanced cut has as many shards as it should, the longest ones divided") {
  std::mt19937 random(15);
  for (int i = 0; i < 100; ++i) {
    auto p = random_profile(random, 8);
    for (auto& layer : p.layers) {
      layer.backward += layer.forward;
    }
    const piece_table pieces(p, unlimited);
    for (std::size_t shards = 1; shards < 12; ++shards) {
      const auto cuts = balanced_cuts(pieces, {unlimited, unlimited}, {.shards = shards}).cuts();
      CHECK(cuts.size() == std::min<std::size_t>(shards, 8));
    }
  }
  chain_profile even;
  even.layers.resize(6);
  for (auto& layer : even.layers) {
    layer.backward = std::chrono::milliseconds(1);
  }
  const piece_table pieces(even, unlimited);
  CHECK(balanced_cuts(pieces, {unlimited, unlimited}, {.shards = 3}).cuts() == cut_points{0, 2, 4});
  CHECK(balanced_cuts(pieces, {unlimited, unlimited}, {.shards = 4}).cuts() == cut_points{0, 1, 2, 4});
}

TEST_CASE("the least computing bytes are those of the best of all cuts within the staging bytes") {
  std::mt19937 random(12);
  for (int i = 0; i < 300; ++i) {
    const auto p = random_profile(random, 1 + random() % 8);
    const auto staging = some_bytes(random, 100);
    std::optional<byte_count> least;
    for (const auto& cuts : all_cuts(p.layers.size())) {
      byte_count most;
      bool suits = true;
      for (std::size_t s = 0; s < cuts.size(); ++s) {
        const auto demand = demand_of(p, cuts[s], last_layer(cuts, s, p.layers.size()));
        suits = suits && demand.staging <= staging;
        most = std::max(most, demand.computing);
      }
      least = suits ? std::min(least.value_or(most), most) : least;
    }
    CHECK(least_computing(piece_table(p, unlimited), staging) == least);
  }
}

TEST_CASE("a visit takes the longer of forward and backward, the last shard's forward is part of its backward") {
  chain_profile p;
  p.layers.resize(3);
  for (auto& layer : p.layers) {
    layer.forward = std::chrono::milliseconds(5);
    layer.backward = std::chrono::milliseconds(3);
  }
  CHECK(visit_time(p, 0, 2) == std::chrono::milliseconds(10));
  CHECK(visit_time(p, 1, 3) == std::chrono::milliseconds(6));
}

TEST_CASE("the table of pieces leaves out none that fits the bytes it is made for") {
  std::mt19937 random(13);
  for (int i = 0; i < 100; ++i) {
    const auto p = random_profile(random, 8);
    const auto usable = some_bytes(random, 500);
    const piece_table pieces(p, usable);
    for (std::size_t first = 0; first < 8; ++first) {
      for (std::size_t last = first + 1; last <= 8; ++last) {
        const auto demand = demand_of(p, first, last);
        const auto row = pieces.from(first);
        const bool listed = std::ranges::find(row, last, &chain_piece::last) != row.end();
        CHECK(listed == (demand.computing + demand.staging <= usable));
      }
    }
  }
}

}  // namespace balanced_cut_test
