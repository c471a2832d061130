#include "partition/cut.hpp"

#include "runtime/fault.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace hydra;
using Catch::Matchers::Contains;

namespace {

using rng = std::mt19937;

byte_count some(rng& random, std::uint64_t most) {
  return byte_count{512 * std::uniform_int_distribution<std::uint64_t>(1, most)(random)};
}

/// A profile nobody has measured; its boundaries fit each other.
chain_profile random_profile(rng& random) {
  chain_profile p;
  p.layers.resize(std::uniform_int_distribution<std::size_t>(1, 10)(random));
  auto boundary = some(random, 4);
  for (auto& layer : p.layers) {
    layer.parameters = some(random, 40);
    layer.input = boundary;
    layer.output = boundary = some(random, 4);
    layer.saved = layer.output + some(random, 20);
    layer.forward_transient = some(random, 8);
    layer.backward_transient = some(random, 8);
  }
  p.targets = some(random, 2);
  p.loss_saved = some(random, 2);
  p.loss_transient = some(random, 4);
  return p;
}

bool fits(const chain_profile& p, std::size_t first, std::size_t last, const cut_limits& limits) {
  const auto demand = demand_of(p, first, last);
  return demand.staging <= limits.staging && demand.computing <= limits.computing;
}

}  // namespace

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

TEST_CASE("a shard ends where the next one begins, the last one with the chain") {
  CHECK(last_layer({0, 2, 4}, 0, 7) == 2);
  CHECK(last_layer({0, 2, 4}, 1, 7) == 4);
  CHECK(last_layer({0, 2, 4}, 2, 7) == 7);
}
