// make_plan against every cut of every model for all staging bytes.

#include "partition/plan/plan.hpp"
#include "partition/plan/staging_search.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/random_profile.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <tuple>

using namespace hydra;
using namespace hydra::test;

namespace {

constexpr auto no_limit = byte_count{std::uint64_t{1} << 50};

/// Some models with random costs; the requests point to the rest.
struct random_workload {
  std::vector<std::shared_ptr<const chain>> chains;
  std::vector<chain_profile> profiles;
  std::vector<plan_request> requests;
};

cut_rule random_rule(std::mt19937& random, std::size_t layers) {
  const auto dice = random() % 6;
  if (dice == 0) return greedy_cut{};
  if (dice == 1) return cut_points{0, layers - 1};
  return balanced_cut{};
}

random_workload make_workload(std::mt19937& random) {
  random_workload w;
  w.profiles.reserve(3);
  for (std::size_t i = 0; i < 1 + random() % 3; ++i) {
    const auto layers = 2 + random() % 5;
    w.chains.push_back(idle_chain(layers));
    w.profiles.push_back(random_profile(random, layers));
    w.requests.push_back({.name = std::to_string(i),
                          .model = w.chains.back().get(),
                          .profile = &w.profiles.back(),
                          .micro_batches = 1 + static_cast<std::uint32_t>(random() % 3),
                          .rule = sgd({}),
                          .cuts = random_rule(random, layers)});
  }
  return w;
}

std::vector<cut_points> cuts_of(std::size_t layers) {
  std::vector<cut_points> all;
  for (std::size_t bits = 0; bits < std::size_t{1} << (layers - 1); ++bits) {
    cut_points cuts{0};
    for (std::size_t i = 1; i < layers; ++i) {
      if (bits >> (i - 1) & 1) cuts.push_back(i);
    }
    all.push_back(std::move(cuts));
  }
  std::ranges::sort(all);
  return all;
}

using cost = std::tuple<std::size_t, duration>;

cost cost_of(const plan_request& m, const cut_points& cuts) {
  duration largest{};
  for (std::size_t s = 0; s < cuts.size(); ++s) {
    largest = std::max(largest, visit_time(*m.profile, cuts[s], last_layer(cuts, s, m.profile->layers.size())));
  }
  return {cuts.size(), largest * m.micro_batches};
}

/// The model's own cut within limits, by trying all.
std::optional<cut_points> cut_within(const plan_request& m, const cut_limits& limits) {
  if (std::holds_alternative<greedy_cut>(m.cuts)) return greedy(*m.profile, limits);
  std::optional<cut_points> best;
  for (const auto& cuts : cuts_of(m.profile->layers.size())) {
    const auto* given = std::get_if<cut_points>(&m.cuts);
    const bool suits = fits(demand_of(*m.profile, cuts), limits) && (!given || cuts == *given);
    if (suits && (!best || cost_of(m, cuts) < cost_of(m, *best))) best = cuts;
  }
  return best;
}

struct found {
  cost total;
  byte_count staging;
  std::vector<cut_points> cuts;
};

std::optional<found> within_staging(const random_workload& w, byte_count usable, byte_count staging) {
  found f{{0, duration{}}, staging, {}};
  for (const auto& m : w.requests) {
    const auto cuts = cut_within(m, {.computing = usable - staging, .staging = staging});
    if (!cuts) return std::nullopt;
    const auto [shards, largest] = cost_of(m, *cuts);
    f.total = {std::get<0>(f.total) + shards, std::max(std::get<1>(f.total), largest)};
    f.cuts.push_back(*cuts);
  }
  return f;
}

/// Every staging that occurs below the budget.
std::set<byte_count> staging_sizes(const random_workload& w, byte_count usable) {
  std::set<byte_count> all;
  for (const auto& p : w.profiles) {
    for (std::size_t first = 0; first < p.layers.size(); ++first) {
      for (auto last = first + 1; last <= p.layers.size(); ++last) all.insert(demand_of(p, first, last).staging);
    }
  }
  std::erase_if(all, [&](byte_count staging) { return staging > usable; });
  return all;
}

std::optional<found> best_of_all(const random_workload& w, byte_count usable) {
  std::optional<found> best;
  for (const auto staging : staging_sizes(w, usable)) {
    auto next = within_staging(w, usable, staging);
    if (next && (!best || next->total < best->total)) best = std::move(next);
  }
  return best;
}

std::optional<workload_plan> planned(const random_workload& w, byte_count usable) {
  const device_info device{.name = "d", .memory = usable};
  try {
    return make_plan(w.requests, {&device, 1});
  } catch (const fault_error& e) {
    REQUIRE(e.what_happened().code == fault_code::does_not_fit);
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("a plan is the best of all cuts of all models for all staging bytes") {
  std::mt19937 random(21);
  std::size_t fitting = 0;
  for (int i = 0; i < 400; ++i) {
    const auto w = make_workload(random);
    const auto usable = some_bytes(random, 700);
    const auto expected = best_of_all(w, usable);
    const auto plan = planned(w, usable);
    REQUIRE(plan.has_value() == expected.has_value());
    for (std::size_t m = 0; expected && m < w.requests.size(); ++m) {
      CHECK(plan->models[m].cuts() == expected->cuts[m]);
    }
    fitting += expected ? 1 : 0;
  }
  CHECK(fitting > 100);
  CHECK(fitting < 350);
}

TEST_CASE("the staging search agrees with every cut about the least bytes, and about whether they are enough") {
  std::mt19937 random(22);
  for (int i = 0; i < 200; ++i) {
    const auto w = make_workload(random);
    const auto least = staging_search(w.requests, no_limit).least().value();
    CHECK(best_of_all(w, least));
    CHECK_FALSE(best_of_all(w, least - byte_count{512}));
  }
}

TEST_CASE("a chain of a thousand unequal layers is planned") {
  std::mt19937 random(23);
  const auto body = idle_chain(1000);
  const auto profile = random_profile(random, 1000);
  const plan_request request{.name = "deep",
                             .model = body.get(),
                             .profile = &profile,
                             .micro_batches = 4,
                             .rule = sgd({}),
                             .cuts = balanced_cut{}};
  const byte_count budget{GENERATE(512u * 2000, 512u * 8000, 512u * 60000)};
  const device_info device{.name = "d", .memory = budget};
  const auto plan = make_plan({&request, 1}, {&device, 1});
  CHECK(plan.models.front().shards.back().last_layer == 1000);
  CHECK(plan.staging_bytes + plan.computing_bytes <= budget);
}
