// Generated instances.

#include "actors/simulation/generator.hpp"

#include "actors/simulation/instance_bounds.hpp"
#include "actors/simulation/instance_file.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/hash.hpp"
#include "runtime/base/portable_random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

using namespace hydra;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

double microseconds(const std::vector<duration>& times) {
  return seconds(std::accumulate(times.begin(), times.end(), duration::zero())) * 1e6;
}

/// Mean over all shards of all models.
template <class Times>
double mean_us(const schedule_instance& i, Times times) {
  double total = 0;
  std::size_t shards = 0;
  for (const auto& m : i.models) {
    total += times(m);
    shards += m.forward.size();
  }
  return total / static_cast<double>(shards);
}

double mean_half(const schedule_instance& i) {
  return mean_us(i, [](const instance_model& m) { return (microseconds(m.forward) + microseconds(m.backward)) / 2; });
}

double mean_copy(const schedule_instance& i) {
  return mean_us(i, [](const instance_model& m) { return microseconds(m.h2d); });
}

}  // namespace

TEST_CASE("random numbers are the same everywhere") {
  portable_random random{42};
  CHECK(random.share() == 0.75515553295453897);
  CHECK(random.whole(2, 12) == 9);
  double sum = 0;
  std::uint32_t least = 100;
  std::uint32_t most = 0;
  for (int i = 0; i < 10000; ++i) {
    sum += random.uniform(0.5, 4);
    const auto n = random.whole(3, 5);
    least = std::min(least, n);
    most = std::max(most, n);
  }
  CHECK(sum / 10000 == Approx(2.25).epsilon(0.02));
  CHECK((least == 3 && most == 5));
}

TEST_CASE("the same recipe gives the same instance, another seed another one") {
  const instance_recipe recipe{.rho = 0.5, .seed = 3};
  auto other = recipe;
  other.seed = 4;
  CHECK(to_json(generate(recipe)) == to_json(generate(recipe)));
  CHECK(to_json(generate(recipe)) != to_json(generate(other)));
}

TEST_CASE("the mean of half a shard's forward and backward is 2000 us, its copy rho times that") {
  for (const auto family : {instance_family::equal, instance_family::hetero, instance_family::skewed})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto i = generate({.family = family, .models = 24, .rho = 0.5, .seed = seed});
      CHECK(mean_half(i) == Approx(2000).epsilon(0.001));
      CHECK(mean_copy(i) == Approx(1000).epsilon(0.1));
    }
}

TEST_CASE("equal models are those of the study: 6 shards, 50 steps, forward 1 ms, backward 3 ms") {
  const auto i = generate({.family = instance_family::equal, .rho = 0.5, .optimizer = 1.2});
  CHECK(i.models.size() == 12);
  CHECK(i.devices.size() == 8);
  for (const auto& m : i.models) {
    CHECK(m.steps == 50);
    CHECK(m.forward == std::vector<duration>(6, 1ms));
    CHECK(m.backward == std::vector<duration>(6, 3ms));
    CHECK(m.h2d == std::vector<duration>(6, 1ms));
    CHECK(m.optimizer == std::vector<duration>(6, 1200us));
    CHECK(m.activation == 100us);
  }
}

TEST_CASE("a frozen share of a copy is the base, of all models or of each its own") {
  const auto i = generate({.family = instance_family::equal, .rho = 1, .frozen = 0.9});
  for (const auto& m : i.models) {
    CHECK(m.base == "shared");
    CHECK(m.base_h2d == std::vector<duration>(6, 1800us));
    CHECK(m.h2d == std::vector<duration>(6, 200us));
    CHECK(m.d2h_gradient == std::vector<duration>(6, 200us));
  }
  CHECK(base_owners(i) == std::vector<model_id>(12, model_id{0}));
  const auto each = generate({.family = instance_family::equal, .models = 2, .rho = 1, .frozen = 0.9, .share = false});
  CHECK(base_owners(each) == std::vector{model_id{0}, model_id{1}});
  CHECK(each.models[1].base_h2d == i.models[1].base_h2d);
}

TEST_CASE("models of a family stay within its ranges") {
  const auto hetero = generate({.models = 200});
  for (const auto& m : hetero.models) {
    CHECK((m.forward.size() >= 2 && m.forward.size() <= 12));
    CHECK(m.steps >= 2);
    CHECK(m.activation == 0us);
    const auto [least, most] = std::ranges::minmax(m.forward);
    CHECK(seconds(most) / seconds(least) < 1.3 / 0.7 + 0.01);
    CHECK(seconds(m.backward[0]) == Approx(3 * seconds(m.forward[0])).epsilon(0.002));
  }
  const auto skewed = generate({.family = instance_family::skewed, .models = 200});
  const auto work = [](const instance_model& m) {
    return m.steps * (microseconds(m.forward) + microseconds(m.backward));
  };
  std::vector<double> works;
  std::ranges::transform(skewed.models, std::back_inserter(works), work);
  CHECK(std::ranges::max(works) / std::ranges::min(works) > 20);
}

TEST_CASE("the paper's models: 10 shards, 2 hours in 2000 units each, or varied") {
  const auto same = generate({.family = instance_family::paper, .models = 3});
  for (const auto& m : same.models) {
    CHECK(m.forward == m.backward);
    CHECK(m.forward.size() == 10);
    CHECK(m.steps * 19 == Approx(2000).epsilon(0.01));
    CHECK(m.steps * (microseconds(m.forward) + microseconds(m.backward)) == Approx(7200e6).epsilon(1e-6));
  }
  const auto varied = generate({.family = instance_family::paper, .models = 64, .hours = 0, .units = 0});
  for (const auto& m : varied.models) {
    const double hours = m.steps * (microseconds(m.forward) + microseconds(m.backward)) / 3600e6;
    CHECK((hours >= 0.499 && hours <= 4.001));
    CHECK((m.steps >= 5 && m.steps <= 527));
  }
}

TEST_CASE("models arrive and devices die within the work bound") {
  const auto still = generate({});
  const auto i = generate({.arrivals = 0.5, .failures = 3});
  const auto work = bounds_of(still).limits.work;
  for (const auto& m : i.models) {
    CHECK((m.arrival >= 0us && m.arrival < work / 2));
  }
  CHECK(std::ranges::max(i.models, {}, &instance_model::arrival).arrival > work / 10);
  CHECK(std::ranges::count_if(i.devices, [](const instance_device& d) { return d.fails.has_value(); }) == 3);
  for (std::size_t m = 0; m < i.models.size(); ++m) {
    CHECK(i.models[m].forward == still.models[m].forward);
  }
}

TEST_CASE("a deadline is the arrival and some times what the model takes alone on the fastest device") {
  const auto i = generate({.models = 3, .speeds = {0.5, 0.25}, .rho = 1, .length = 0.1, .arrivals = 1, .deadlines = 2});
  for (const auto& m : i.models) {
    duration step{};
    for (std::size_t s = 0; s < m.forward.size(); ++s) {
      step += m.forward[s] + m.backward[s];
    }
    const auto alone = static_cast<double>(step.count()) * m.steps * m.remaining_scale / 0.5;
    CHECK(std::abs(static_cast<double>((*m.deadline - m.arrival).count()) - 2 * alone) < 1000);
  }
  CHECK_FALSE(generate({.models = 1, .length = 0.1}).models[0].deadline);
}

TEST_CASE("as many units are staged at once as there are slots for, at most eight, or as the recipe says") {
  CHECK(generate({.slots = 2}).depth == 1);
  CHECK(generate({.slots = 4}).depth == 3);
  CHECK(generate({.slots = 20}).depth == 8);
  CHECK(generate({.slots = 4, .depth = 2}).depth == 2);
  CHECK(generate({.slots = 4, .prefetch = false}).depth == 1);
  CHECK_THROWS_WITH(generate({.slots = 4, .depth = 4}), Contains("depth: 4"));
}

TEST_CASE("an instance is named after what is special in its recipe") {
  CHECK(to_string(instance_recipe{}) == "hetero");
  CHECK(to_string(instance_recipe{.family = instance_family::skewed, .speeds = {1, 1, 0.5}, .rho = 0.5, .seed = 7}) ==
        "skewed:speeds=2x1+1x0.5,rho=0.5,seed=7");
  CHECK(to_string(instance_recipe{.family = instance_family::paper, .prefetch = false, .units = 0}) ==
        "paper:prefetch=false,units=0");
}

TEST_CASE("a recipe that cannot be made is refused by its key") {
  CHECK_THROWS_WITH(generate({.models = 0}), Contains("models: 0"));
  CHECK_THROWS_WITH(generate({.speeds = {}}), Contains("devices: 0"));
  CHECK_THROWS_WITH(generate({.speeds = {1, 2}}), Contains("speeds: 2"));
  CHECK_THROWS_WITH(generate({.rho = -1}), Contains("rho: -1"));
  CHECK_THROWS_WITH(generate({.frozen = 0.9}), Contains("frozen: 0.9") && Contains("of family equal"));
  CHECK_THROWS_WITH(generate({.slots = 0}), Contains("slots: 0"));
  CHECK_THROWS_WITH(generate({.noise = 1}), Contains("noise: 1"));
  CHECK_THROWS_WITH(generate({.failures = 8}), Contains("failures: 8"));
}
