// Whole schedules of schedule tracker and policies, compared with those of the scheduling study's own simulator.

#include "actors/policy/bounds.hpp"
#include "actors/policy/catalog.hpp"
#include "tests/actors/policy/tiny_simulation.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <map>
#include <string>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

/// Forward times of the shards; backward takes three times as long. No transfers.
unit_times model(std::uint32_t steps, std::vector<duration> forward) {
  unit_times m{.forward = forward, .backward = {}, .promote = {}, .demote = {}, .update = {}, .steps = steps};
  m.promote = m.demote = m.update = std::vector<duration>(forward.size());
  for (const auto f : forward) {
    m.backward.push_back(3 * f);
  }
  m.backward.back() += forward.back();  // one unit
  return m;
}

duration makespan(const std::string& policy, const std::vector<unit_times>& models, std::size_t devices,
                  bool double_buffer) {
  tiny_simulation s{models, std::vector<double>(devices, 1.0), make_policy(policy, 0), double_buffer};
  const auto end = s.run();
  REQUIRE(s.completed() == s.units());
  return end;
}

const std::vector coarse_3{model(1, {3ms, 8ms, 9ms}), model(2, {9ms, 9ms}), model(2, {5ms, 9ms})};
const std::vector coarse_4{model(2, {5ms, 1ms}), model(2, {5ms, 5ms}), model(2, {6ms, 9ms}), model(1, {1ms, 9ms, 9ms})};
const std::vector coarse_5{model(1, {5ms, 8ms, 8ms}), model(1, {2ms, 6ms}), model(1, {9ms, 3ms, 2ms}),
                           model(1, {1ms, 9ms, 7ms}), model(2, {5ms, 2ms})};

}  // namespace

TEST_CASE("late decisions without transfers make the makespans of the scheduling study", "[policy]") {
  const std::map<std::string, std::array<duration, 3>> study{
      {"sharded-lrtf", {168ms, 120ms, 100ms}},
      {"fifo", {191ms, 132ms, 103ms}},
      {"round-robin", {171ms, 139ms, 100ms}},
      {"whole-model", {192ms, 124ms, 112ms}},
  };
  for (const auto& [policy, expected] : study) {
    INFO(policy);
    CHECK(makespan(policy, coarse_3, 2, false) == expected[0]);
    CHECK(makespan(policy, coarse_4, 3, false) == expected[1]);
    CHECK(makespan(policy, coarse_5, 3, false) == expected[2]);
  }
}

TEST_CASE("sharded-lrtf is as good as the work bound when there are more models than devices", "[policy]") {
  const std::vector models(12, model(10, std::vector<duration>(6, 10us)));
  const auto bound = lower_bounds(models, resources{.speeds = std::vector<double>(4, 1.0)}).work;
  const auto took = makespan("sharded-lrtf", models, 4, true);
  CHECK(took >= bound);
  CHECK(took < bound + bound / 20);
}

TEST_CASE("every policy visits each model's units once, in the order of its chain", "[policy]") {
  for (const auto& entry : built_in_policies()) {
    INFO(entry.name);
    tiny_simulation s{coarse_5, {1.0, 1.0, 0.5}, make_policy(entry.name, 0)};
    s.run();
    std::map<std::uint32_t, std::vector<unit>> visited;
    for (const auto& u : s.completed_units()) {
      visited[u.model.value].push_back(u);
    }
    for (std::uint32_t m = 0; m < coarse_5.size(); ++m) {
      CHECK(visited[m] == chain_of(m, static_cast<std::uint32_t>(coarse_5[m].backward.size()), coarse_5[m].steps));
    }
  }
}
