// No policy beats a bound: thousands of small random instances.

#include "actors/policy/catalog.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/instance_bounds.hpp"
#include "actors/simulation/instance_file.hpp"
#include "actors/simulation/simulated_instance.hpp"
#include "runtime/base/portable_random.hpp"
#include "tests/support/depth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using hydra::test::seeds;

namespace {

/// Any candidate, or none although there is one.
class moody final : public policy {
 public:
  explicit moody(std::uint64_t seed) : random_(seed) {}
  std::string name() const override { return "moody"; }
  std::uint32_t depth() const override { return most_staged; }
  std::optional<std::size_t> choose(const device_state&, std::span<const candidate> candidates,
                                    const policy_view&) override {
    if (random_.share() < 0.3) {
      return std::nullopt;
    }
    return random_.whole(0, static_cast<std::uint32_t>(candidates.size()) - 1);
  }

 private:
  portable_random random_;
};

std::vector<duration> some_times(std::size_t n, std::uint32_t most_us, portable_random& random) {
  std::vector<duration> times;
  for (std::size_t i = 0; i < n; ++i) {
    times.push_back(std::chrono::microseconds{random.whole(0, most_us)});
  }
  return times;
}

instance_model some_model(bool transfers, portable_random& random) {
  instance_model m;
  const auto shards = random.whole(1, 5);
  const auto copies = transfers ? random.whole(0, 40) : 0;
  m.steps = random.whole(1, 4);
  m.forward = some_times(shards, 30, random);
  m.backward = some_times(shards, 60, random);
  m.h2d = some_times(shards, copies, random);
  m.d2h_gradient = some_times(shards, copies, random);
  m.optimizer = some_times(shards, random.share() < 0.5 ? 0 : 20, random);
  m.activation = std::chrono::microseconds{transfers ? random.whole(0, 10) : 0};
  m.remaining_scale = random.uniform(1, 1.5);
  m.arrival = std::chrono::microseconds{random.share() < 0.2 ? random.whole(0, 200) : 0};
  m.priority = random.whole(1, 3);
  return m;
}

schedule_instance some_instance(std::uint64_t seed) {
  portable_random random{seed};
  schedule_instance i;
  i.name = "random " + std::to_string(seed);
  const bool transfers = random.share() < 0.8;
  for (auto d = random.whole(1, 4); d > 0; --d) {
    constexpr double speeds[]{1, 1, 1, 0.5, 0.25, 0.1, 0.3};
    i.devices.push_back({.speed = speeds[random.whole(0, 6)]});
  }
  for (auto m = random.whole(1, 5); m > 0; --m) {
    i.models.push_back(some_model(transfers, random));
  }
  i.slots = random.whole(2, 6);
  i.prefetch = random.share() < 0.7;
  i.depth = i.prefetch ? random.whole(1, i.slots - 1) : 1;
  i.copy_back_clean = random.share() < 0.2;
  i.host_workers = random.whole(1, 2);
  if (random.share() < 0.3) {
    i.noise = 0.3;
    i.seed = seed;
  }
  for (std::size_t d = 1; d < i.devices.size() && random.share() < 0.3; ++d) {
    i.devices[d].fails = std::chrono::microseconds{random.whole(1, 3000)};
  }
  return i;
}

/// Steps in several replicas and waves.
schedule_instance in_lanes(schedule_instance i, std::uint64_t seed) {
  portable_random random{seed};
  for (auto& m : i.models) {
    m.replicas = random.whole(1, 3);
    m.waves = random.whole(1, 3);
  }
  return i;
}

/// A name for fine-tunings of one model.
struct some_base {
  std::string name;
  std::vector<duration> copies;
};

some_base make_base(std::string name, portable_random& random) {
  some_base base{std::move(name), {}};
  const auto longest = random.share() < 0.5 ? 60 : 600;  // the latter: links decide
  for (auto s = random.whole(1, 8); s > 0; --s) {
    base.copies.push_back(std::chrono::microseconds{random.share() < 0.8 ? random.whole(11, longest) : 0});
  }
  return base;
}

instance_model fine_tuning(instance_model m, const some_base& base, portable_random& random) {
  const auto shards = base.copies.size();
  m.base = base.name;
  m.base_h2d = base.copies;
  m.forward = some_times(shards, 30, random);
  m.backward = some_times(shards, 60, random);
  m.h2d = some_times(shards, 10, random);
  m.d2h_gradient = some_times(shards, 10, random);
  m.optimizer = some_times(shards, 10, random);
  m.first_trained = random.share() < 0.5 ? random.whole(0, static_cast<std::uint32_t>(shards) - 1) : 0;
  return m;
}

/// Fine-tunings of two models, and some that have a base of their own.
schedule_instance over_bases(schedule_instance i, std::uint64_t seed) {
  portable_random random{seed};
  const some_base shared[]{make_base("x", random), make_base("y", random)};
  for (auto& m : i.models) {
    const auto which = random.whole(0, 2);
    m = fine_tuning(m, which < 2 ? shared[which] : make_base("", random), random);
  }
  return i;
}

/// Few slots and long loads; the lower shards of some models are not trained.
schedule_instance short_of_slots(schedule_instance i, std::uint64_t seed) {
  portable_random random{seed};
  i.devices.resize(random.whole(1, 2));
  i.slots = random.whole(2, 3);
  i.depth = i.prefetch ? random.whole(1, i.slots - 1) : 1;
  for (auto& m : i.models) {
    m.h2d = some_times(m.forward.size(), 200, random);
    m.first_trained = random.share() < 0.5 ? random.whole(0, static_cast<std::uint32_t>(m.forward.size()) - 1) : 0;
  }
  return i;
}

/// On one device, of six shards that take no time to copy and to update.
schedule_instance one_model(std::uint32_t steps) {
  schedule_instance i;
  i.devices.emplace_back();
  auto& m = i.models.emplace_back();
  m.steps = steps;
  m.forward.assign(6, std::chrono::milliseconds{1});
  m.backward.assign(6, std::chrono::milliseconds{3});
  m.h2d = m.d2h_gradient = m.optimizer = std::vector<duration>(6);
  return i;
}

/// Units are rounded to nanoseconds on devices of odd speeds, half a nanosecond each.
duration rounding(const schedule_instance& i) { return duration{static_cast<std::int64_t>(count_units(i) + 1)}; }

bool devices_die(const schedule_instance& i) {
  return std::ranges::any_of(i.devices, [](const instance_device& d) { return d.fails.has_value(); });
}

void check_run(const schedule_instance& i, const simulated_run& run, completion_rule rule) {
  for (const auto& [name, value] : bounds_of(i, rule).all()) {
    INFO(name);
    REQUIRE(run.makespan + rounding(i) >= value);
  }
  REQUIRE(run.compute_end <= run.makespan);
  REQUIRE((devices_die(i) || run.loads + run.hits == count_units(i)));
  REQUIRE(run.finished.size() == i.models.size());
  REQUIRE(std::ranges::max(run.finished) == run.makespan);
}

/// `works`: it must not be replaced.
void check_policy(const schedule_instance& i, const std::function<std::unique_ptr<policy>()>& make, bool works) {
  for (const auto rule : {completion_rule::ended, completion_rule::written_back}) {
    INFO((rule == completion_rule::ended ? "ended" : "written back"));
    const auto run = run_in_loop(i, make(), {.completion = rule});
    check_run(i, run, rule);
    REQUIRE((!works || run.replacements.empty()));
  }
}

void check_policies(const schedule_instance& i, std::uint64_t seed) {
  INFO(to_json(i));
  for (const auto& entry : built_in_policies()) {
    INFO(entry.name);
    check_policy(i, [&] { return make_policy(entry.name, seed); }, true);
  }
  for (std::uint64_t mood = 0; mood < 3; ++mood) {
    INFO("moody " << mood);
    check_policy(i, [&] { return std::make_unique<moody>(mood); }, false);
  }
}

void check_actors(const schedule_instance& i, std::uint64_t seed) {
  INFO(to_json(i));
  for (const auto* name : {default_policy, "level", "fifo"}) {
    INFO(name);
    const auto run = run_with_actors(i, make_policy(name, seed));
    check_run(i, run, completion_rule::written_back);
    REQUIRE(run.replacements.empty());
  }
  check_run(i, run_with_actors(i, std::make_unique<moody>(seed)), completion_rule::written_back);
}

}  // namespace

TEST_CASE("no run of any policy beats any bound of a random instance") {
  for (const std::uint32_t seed : seeds(3000)) {
    check_policies(some_instance(seed), seed);
  }
}

TEST_CASE("no run of any policy beats any bound of a random instance with steps in replicas and waves") {
  for (const std::uint32_t seed : seeds(400)) {
    check_policies(in_lanes(some_instance(seed), seed), seed);
  }
}

TEST_CASE("no run of any policy beats any bound of models that share bases and train only their upper shards") {
  for (const std::uint32_t seed : seeds(1000)) {
    check_policies(over_bases(some_instance(seed), seed), seed);
  }
}

TEST_CASE("no run of any policy beats any bound of models for which there are few slots") {
  for (const std::uint32_t seed : seeds(1000)) {
    check_policies(short_of_slots(some_instance(seed), seed), seed);
  }
}

TEST_CASE("no run of the actors with shared bases beats a bound, whatever devices die") {
  for (const std::uint32_t seed : seeds(100)) {
    const auto i = over_bases(some_instance(seed), seed);
    check_actors(seed % 2 == 0 ? i : in_lanes(i, seed), seed);
  }
}

TEST_CASE("no run of the actors beats a bound, whatever devices die") {
  for (const std::uint32_t seed : seeds(150)) {
    const auto i = some_instance(seed);
    check_actors(seed % 2 == 0 ? i : short_of_slots(i, seed), seed);
  }
}

TEST_CASE("no run of the actors with steps in replicas and waves beats a bound, whatever devices die") {
  for (const std::uint32_t seed : seeds(100)) {
    check_actors(in_lanes(some_instance(seed), seed), seed);
  }
}

TEST_CASE("a model alone loads its base as often as the bound says, and models over one base need no more") {
  constexpr std::chrono::milliseconds copy{50};
  auto i = one_model(5);
  auto& m = i.models[0];
  m.name = m.base = "m";
  m.base_h2d.assign(6, copy);
  for (i.slots = 2; i.slots < 8; ++i.slots) {
    INFO(i.slots << " slots");
    const auto loads = run_in_loop(i, make_policy("sharded-lrtf", 0)).loads;
    CHECK(loads == 6 + (i.slots < 6 ? (2 * 5 - 1) * (6 - i.slots) : 0));
    CHECK(bounds_of(i).limits.h2d == loads * copy);
    auto three = i;
    three.models.resize(3, m);
    CHECK(bounds_of(three).limits.h2d == loads * copy);
    const auto together = run_in_loop(three, make_policy(default_policy, 0)).makespan;
    three.models[1].base = "a";
    three.models[2].base = "b";
    CHECK(bounds_of(three).limits.h2d == 3 * loads * copy);
    CHECK(together < bounds_of(three).limits.h2d);
  }
}

TEST_CASE("a model alone loads its shards as often as the bound says") {
  constexpr std::chrono::milliseconds copy{50};
  auto i = one_model(5);
  i.models[0].h2d.assign(6, copy);
  for (i.slots = 2; i.slots < 8; ++i.slots) {
    INFO(i.slots << " slots");
    const auto loads = run_in_loop(i, make_policy("sharded-lrtf", 0)).loads;
    CHECK(loads == 5 * (6 + (i.slots < 6 ? 6 - i.slots : 0)));
    CHECK(bounds_of(i).limits.h2d == loads * copy);
  }
}

TEST_CASE(
    "the chain bound is the time of a lone model on one device, where nothing is exposed but its step boundaries") {
  auto i = one_model(10);
  auto& m = i.models[0];
  m.h2d = m.d2h_gradient = m.forward;
  i.slots = 4;
  CHECK(run_in_loop(i, make_policy("sharded-lrtf", 0)).makespan == bounds_of(i).limits.chain);
}
