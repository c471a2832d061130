#include "actors/simulation/optimum.hpp"

#include "actors/policy/catalog.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/instance_bounds.hpp"
#include "actors/simulation/instance_file.hpp"
#include "actors/simulation/small_schedule.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/portable_random.hpp"
#include "tests/actors/simulation/shipped_instances.hpp"
#include "tests/support/depth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using namespace hydra::test;
using Catch::Contains;

namespace optimum_test {

std::vector<duration> some_times(std::size_t n, std::uint32_t least_us, std::uint32_t most_us,
                                 portable_random& random) {
  std::vector<duration> times;
  for (std::size_t i = 0; i < n; ++i) {
    times.push_back(std::chrono::microseconds{random.whole(least_us, most_us)});
  }
  return times;
}

instance_model some_model(std::uint32_t copies, portable_random& random) {
  const auto shards = random.whole(1, 3);
  return {.name = "m",
          .steps = random.whole(1, 3),
          .forward = some_times(shards, 1, 20, random),
          .backward = some_times(shards, 1, 40, random),
          .h2d = some_times(shards, 0, copies, random),
          .d2h_gradient = some_times(shards, 0, copies, random),
          .optimizer = some_times(shards, 0, random.share() < 0.5 ? 0 : 15, random),
          .activation = std::chrono::microseconds{random.whole(0, copies / 4)}};
}

/// With at most so many units.
schedule_instance some_instance(std::uint64_t seed, std::uint64_t most_units) {
  portable_random random{seed};
  schedule_instance i;
  i.name = "random " + std::to_string(seed);
  constexpr double speeds[]{1, 1, 0.5, 0.3};
  for (auto d = random.whole(1, 3); d > 0; --d) {
    i.devices.push_back({.speed = speeds[random.whole(0, 3)]});
  }
  const auto copies = random.share() < 0.8 ? 40 : 0;
  do {
    i.models.push_back(some_model(copies, random));
  } while (count_units(i) < most_units && i.models.size() < 4);
  while (count_units(i) > most_units) {
    i.models.pop_back();
  }
  if (i.models.empty()) {
    const std::vector none{duration{}}, some{duration{std::chrono::microseconds{2}}};
    i.models.push_back({.name = "m", .forward = some, .backward = some, .h2d = none, .d2h_gradient = none,
                        .optimizer = none});
  }
  i.slots = random.whole(2, 4);
  i.prefetch = random.share() < 0.8;
  i.copy_back_clean = random.share() < 0.2;
  i.host_workers = random.whole(1, 2);
  return i;
}

struct random_run {
  duration makespan{};
  std::vector<staging_decision> decisions;
};

random_run run_at_random(const small_instance& instance, std::uint64_t seed) {
  portable_random random{seed};
  small_schedule s(instance);
  random_run run;
  std::vector<std::uint32_t> models;
  while (const auto device = s.next(models)) {
    if (random.share() < 0.2 && s.may_hold()) {
      s.hold();
    } else {
      run.decisions.push_back({s.now(), *device, models[random.whole(0, static_cast<std::uint32_t>(models.size()) - 1)]});
      s.stage(run.decisions.back().model);
    }
  }
  run.makespan = s.makespan();
  return run;
}

/// Answers by number: a candidate, or "nothing" behind the last one.
class scripted final : public policy {
 public:
  /// `answers` are those of the first questions; behind them 0. Appends how many answers each question had.
  scripted(const std::vector<std::size_t>& answers, std::vector<std::size_t>& choices)
      : answers_(answers), choices_(choices) {}
  std::string name() const override { return "scripted"; }
  std::optional<std::size_t> choose(const device_state&, std::span<const candidate> candidates,
                                    const policy_view&) override {
    const auto n = choices_.size();
    choices_.push_back(candidates.size() + 1);
    const auto answer = n < answers_.size() ? answers_[n] : 0;
    return answer < candidates.size() ? std::optional(answer) : std::nullopt;
  }

 private:
  const std::vector<std::size_t>& answers_;
  std::vector<std::size_t>& choices_;
};

/// Of all answers to the event loop. None if there are more than so many runs.
std::optional<duration> least_of_loop(const schedule_instance& i, std::size_t most_runs) {
  auto least = duration::max();
  std::vector<std::size_t> answers;
  for (std::size_t runs = 0; runs < most_runs; ++runs) {
    std::vector<std::size_t> choices;
    const auto run = run_in_loop(i, std::make_unique<scripted>(answers, choices));
    least = run.replacements.empty() ? std::min(least, run.makespan) : least;
    answers.resize(choices.size());
    while (!answers.empty() && answers.back() + 1 == choices[answers.size() - 1]) {
      answers.pop_back();
    }
    if (answers.empty()) {
      return least;
    }
    ++answers.back();
  }
  return std::nullopt;
}

std::vector<duration> us(const std::vector<int>& all) {
  std::vector<duration> times;
  for (const auto n : all) {
    times.emplace_back(std::chrono::microseconds{n});
  }
  return times;
}

/// Through all answers, without leaving out any.
duration least_of_all(small_schedule s) {
  std::vector<std::uint32_t> models;
  const auto device = s.next(models);
  if (!device) {
    return s.makespan();
  }
  auto least = duration::max();
  for (const auto m : models) {
    auto with = s;
    with.stage(m);
    least = std::min(least, least_of_all(std::move(with)));
  }
  if (s.may_hold()) {
    s.hold();
    least = std::min(least, least_of_all(std::move(s)));
  }
  return least;
}

TEST_CASE("a small schedule takes exactly the time of the event loop with the same decisions") {
  for (const std::uint32_t seed : seeds(2000)) {
    const auto i = some_instance(seed, 30);
    INFO(to_json(i));
    const auto run = run_at_random(small_instance(i), seed);
    const auto again = run_in_loop(i, replay(run.decisions));
    REQUIRE(again.replacements.empty());
    REQUIRE(again.makespan == run.makespan);
  }
}

TEST_CASE("no decisions have a smaller makespan than the optimum, which a replay of its own has") {
  std::size_t searched = 0;
  for (const std::uint32_t seed : seeds(300)) {
    auto i = some_instance(seed, 5);
    i.devices.resize(std::min<std::size_t>(i.devices.size(), 2));
    INFO(to_json(i));
    const auto best = find_optimum(i);
    REQUIRE(best.proven);
    REQUIRE(best.makespan == least_of_all(small_schedule(small_instance(i))));
    REQUIRE(run_in_loop(i, replay(best.decisions)).makespan == best.makespan);
    searched += best.nodes > 0 ? 1 : 0;  // random schedules have not reached its bound
  }
  CHECK(searched > 0);
}

TEST_CASE("no answers to the event loop have a smaller makespan than the optimum") {
  std::size_t compared = 0;
  for (const std::uint32_t seed : seeds(200)) {
    auto i = some_instance(seed, 4);
    i.devices.resize(std::min<std::size_t>(i.devices.size(), 2));
    INFO(to_json(i));
    if (const auto least = least_of_loop(i, 3000)) {
      REQUIRE(find_optimum(i).makespan == *least);
      ++compared;
    }
  }
  CHECK(compared > 0);
}

/// On one device.
schedule_instance instance_of(const std::string& name, std::uint32_t slots, std::vector<instance_model> models) {
  schedule_instance i;
  i.name = name;
  i.devices.resize(1);
  i.slots = slots;
  i.models = std::move(models);
  return i;
}

TEST_CASE("the optimum may wait with all models for a slot that is drained") {
  const auto best = find_optimum(instance_of(
      "drained slot", 2,
      {{.name = "c", .steps = 2, .forward = us({5}), .backward = us({5}), .h2d = us({1}), .d2h_gradient = us({0}),
        .optimizer = us({200})},
       {.name = "b", .forward = us({2, 53}), .backward = us({200, 53}), .h2d = us({100, 0}),
        .d2h_gradient = us({0, 5}), .optimizer = us({0, 0})}}));
  CHECK(best.makespan == std::chrono::microseconds{425});
  CHECK(best.proven);
}

TEST_CASE("a backward visit does not wait for its checkpoint on the host, which the copies before it delay") {
  const auto i = instance_of(
      "late checkpoint", 4,
      {{.name = "a", .forward = us({2}), .backward = us({3}), .h2d = us({0}), .d2h_gradient = us({40}),
        .optimizer = us({0})},
       {.name = "b", .forward = us({1, 1, 1}), .backward = us({1, 1, 1}), .h2d = us({0, 0, 0}),
        .d2h_gradient = us({0, 0, 0}), .optimizer = us({0, 0, 0}), .activation = std::chrono::microseconds{10}}});
  const auto best = find_optimum(i);
  CHECK(run_in_loop(i, replay(best.decisions)).makespan == best.makespan);
  CHECK(run_in_loop(i, make_policy("fifo", 1)).makespan >= best.makespan);
}

TEST_CASE("no policy is better than the optimum, and the optimum not better than any bound") {
  for (const std::uint32_t seed : seeds(60)) {
    const auto i = some_instance(seed, 11);
    INFO(to_json(i));
    const auto best = find_optimum(i, {.most_nodes = 200'000, .most_states = 1 << 16});
    for (const auto& [name, value] : bounds_of(i).all()) {
      INFO(name);
      REQUIRE(best.makespan + duration{static_cast<std::int64_t>(count_units(i))} >= value);  // units are rounded
    }
    for (const auto& entry : built_in_policies()) {
      INFO(entry.name);
      REQUIRE((!best.proven || run_in_loop(i, make_policy(entry.name, seed)).makespan >= best.makespan));
    }
  }
}

TEST_CASE("what is remembered of the search does not change its result") {
  for (const std::uint32_t seed : seeds(60)) {
    const auto i = some_instance(seed, 12);
    INFO(to_json(i));
    const auto all = find_optimum(i, {.most_nodes = 300'000});
    const auto few = find_optimum(i, {.most_nodes = 300'000, .most_states = 64});
    REQUIRE((!all.proven || !few.proven || all.makespan == few.makespan));
  }
}

TEST_CASE("the optimum of a shipped instance is its bound, and proven") {
  const auto best = find_optimum(load_instance(instances_folder() / "coarse-3x2.json"));
  CHECK(best.makespan == std::chrono::milliseconds{168});
  CHECK(best.proven);
}

TEST_CASE("a search that ends before its proof says so") {
  const auto best = find_optimum(load_instance(instances_folder() / "coarse-4x2-transfers.json"), {.most_nodes = 1000});
  CHECK_FALSE(best.proven);
  CHECK(best.nodes == 1000);
  CHECK(best.makespan >= std::chrono::microseconds{127'703});
}

TEST_CASE("the optimum with transfers is 127.703 ms, proven", "[.][deep]") {
  const auto i = load_instance(instances_folder() / "coarse-4x2-transfers.json");
  const auto best = find_optimum(i);
  CHECK(best.makespan == std::chrono::microseconds{127'703});
  CHECK(best.proven);
  CHECK(run_in_loop(i, replay(best.decisions)).makespan == best.makespan);
}

TEST_CASE("what the search does not know is refused") {
  auto i = some_instance(1, 10);
  const auto refusal = [](const schedule_instance& instance) -> std::string {
    try {
      find_optimum(instance);
    } catch (const fault_error& e) {
      return e.what_happened().text;
    }
    return "";
  };
  auto lanes = i;
  lanes.models.front().waves = 2;
  CHECK_THAT(refusal(lanes), Contains("model m with several lanes"));
  auto empty = i;
  empty.models.front().backward.front() = empty.models.front().forward.front() = {};
  CHECK_THAT(refusal(empty), Contains("model m with a unit that takes no time"));
  auto late = i;
  late.models.front().arrival = duration{1};
  CHECK_THAT(refusal(late), Contains("with an arrival"));
  auto deep = i;
  deep.prefetch = true;
  deep.slots = 4;
  deep.depth = 2;
  CHECK_THAT(refusal(deep), Contains("depth = 2"));
  auto dying = i;
  dying.devices.push_back({.speed = 1, .fails = duration{5}});
  CHECK_THAT(refusal(dying), Contains("a device that fails"));
  auto noisy = i;
  noisy.noise = 0.1;
  CHECK_THAT(refusal(noisy), Contains("noise"));
  auto long_one = i;
  long_one.models.front().steps = 1000;
  CHECK_THAT(refusal(long_one), Contains("at most 64"));
}

}  // namespace optimum_test
