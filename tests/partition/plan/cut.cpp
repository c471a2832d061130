#include "partition/plan/cut.hpp"

#include "runtime/base/fault.hpp"

#include "tests/support/random_profile.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace cut_test {

using rng = std::mt19937;

byte_count some(rng& random, std::uint64_t most) { return some_bytes(random, most); }

chain_profile random_profile(rng& random) { return test::random_profile(random, 1 + random() % 10); }

bool fits(const chain_profile& p, std::size_t first, std::size_t last, const cut_limits& limits) {
  return hydra::fits(demand_of(p, first, last), limits);
}

TEST_CASE("the greedy cut keeps every shard within the limits and fills it until the next layer does not fit") {
  rng random(7);
  std::size_t cut = 0;
  for (int i = 0; i < 500; ++i) {
    const auto p = random_profile(random);
    const cut_limits limits{.computing = some(random, 400), .staging = some(random, 200)};
    const auto cuts = greedy(p, limits);
    for (std::size_t s = 0; cuts && s < cuts->size(); ++s) {
      const auto last = last_layer(*cuts, s, p.layers.size());
      CHECK(fits(p, (*cuts)[s], last, limits));
      CHECK((last == p.layers.size() || !fits(p, (*cuts)[s], last + 1, limits)));
    }
    cut += cuts ? 1 : 0;
  }
  CHECK(cut > 100);
  CHECK(cut < 500);
}

TEST_CASE("the greedy cut fits whenever every layer fits alone, and refuses where the first one does not") {
  rng random(8);
  for (int i = 0; i < 200; ++i) {
    const auto p = random_profile(random);
    cut_limits limits;
    for (std::size_t k = 0; k < p.layers.size(); ++k) {
      const auto demand = demand_of(p, k, k + 1);
      limits = {std::max(limits.computing, demand.computing), std::max(limits.staging, demand.staging)};
    }
    CHECK(greedy(p, limits));
    const auto first = demand_of(p, 0, 1);
    CHECK_FALSE(greedy(p, {.computing = first.computing - byte_count{1}, .staging = limits.staging}));
    CHECK_FALSE(greedy(p, {.computing = limits.computing, .staging = first.staging - byte_count{1}}));
  }
}

TEST_CASE("given cuts have to start with layer 0, ascend and name layers of the chain") {
  CHECK_NOTHROW(validate_cuts({0, 2, 4}, 5, "gpt"));
  CHECK_THROWS_WITH(validate_cuts({}, 5, "gpt"), Contains("model 'gpt'") && Contains("start with layer 0"));
  CHECK_THROWS_WITH(validate_cuts({1, 2}, 5, "gpt"), Contains("start with layer 0"));
  CHECK_THROWS_WITH(validate_cuts({0, 3, 3}, 5, "gpt"), Contains("3 does not come after 3"));
  CHECK_THROWS_WITH(validate_cuts({0, 3, 2}, 5, "gpt"), Contains("2 does not come after 3"));
  CHECK_THROWS_WITH(validate_cuts({0, 5}, 5, "gpt"), Contains("layer 5 does not exist") && Contains("0 to 4"));
}

TEST_CASE("a shard ends where the next one starts, the last one with the chain") {
  CHECK(last_layer({0, 2, 4}, 0, 7) == 2);
  CHECK(last_layer({0, 2, 4}, 1, 7) == 4);
  CHECK(last_layer({0, 2, 4}, 2, 7) == 7);
}

}  // namespace cut_test
