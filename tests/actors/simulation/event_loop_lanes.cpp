// The event loop with steps in several replicas and waves.

#include "actors/simulation/event_loop.hpp"

#include "actors/policy/catalog.hpp"
#include "actors/simulation/instance_chain.hpp"
#include "actors/simulation/instance_file.hpp"
#include "runtime/base/portable_random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

using namespace hydra;
using namespace std::chrono_literals;

/// One model of three shards: units of 1, 2 and 9 ms.

namespace event_loop_lanes_test {

schedule_instance three_shards(std::size_t devices) {
  schedule_instance i;
  i.name = "three shards";
  i.devices.resize(devices);
  auto& m = i.models.emplace_back();
  m.name = "m";
  m.steps = 3;
  m.forward = {1ms, 2ms, 3ms};
  m.backward = {2ms, 4ms, 6ms};
  m.h2d = m.d2h_gradient = m.optimizer = {0ms, 0ms, 0ms};
  i.slots = 3;
  return i;
}

simulated_run run(const schedule_instance& i, const std::string& policy = "fifo", const loop_options& options = {}) {
  return run_in_loop(i, make_policy(policy, 0), options);
}

/// Takes units of a wave on one device only.
class wave_to_device final : public policy {
 public:
  std::string name() const override { return "wave-to-device"; }
  std::optional<std::size_t> choose(const device_state& d, std::span<const candidate> candidates,
                                    const policy_view&) override {
    const auto mine = [&](const candidate& c) { return c.next.wave.value == d.device.value; };
    const auto found = std::ranges::find_if(candidates, mine);
    return found == candidates.end() ? std::nullopt
                                     : std::optional{static_cast<std::size_t>(found - candidates.begin())};
  }
};

/// One shard in two waves on two devices; its gradient sum takes 10 ms to copy.
schedule_instance two_waves() {
  schedule_instance i;
  i.name = "two waves";
  i.devices.resize(2);
  i.models.push_back({.name = "m", .waves = 2, .forward = {1ms}, .backward = {3ms}, .h2d = {0ms},
                      .d2h_gradient = {10ms}, .optimizer = {0ms}});
  return i;
}

TEST_CASE("two replicas without transfers take half the time on two devices", "[loop]") {
  auto i = three_shards(1);
  i.models.front().replicas = 2;
  const auto one = run(i).makespan;
  CHECK(one == 2 * 3 * 18ms);
  i.devices.resize(2);
  CHECK(run(i).makespan == one / 2);
}

TEST_CASE("waves without transfers take no time on one device", "[loop]") {
  auto i = three_shards(1);
  i.models.front().waves = 4;
  auto whole = three_shards(1);
  for (auto* times : {&whole.models.front().forward, &whole.models.front().backward}) {
    std::ranges::for_each(*times, [](duration& t) { t *= 4; });
  }
  for (const auto& entry : built_in_policies()) {
    INFO(entry.name);
    CHECK(run(i, entry.name).makespan == run(whole, entry.name).makespan);
  }
}

TEST_CASE("a gradient sum stays on the device of the wave before, and is copied to another one", "[loop]") {
  CHECK(run_in_loop(two_waves(), std::make_unique<wave_to_device>()).makespan == 4ms + 10ms + 10ms + 4ms + 10ms);
  auto i = two_waves();
  i.devices.resize(1);
  for (const auto rule : {completion_rule::ended, completion_rule::written_back}) {
    const auto r = run(i, "fifo", {.completion = rule});
    CHECK(r.compute_end == 8ms);
    CHECK(r.makespan == 4ms + 10ms + 10ms);  // one link: both sums cross it
  }
}

TEST_CASE("all lanes share the parameters on a device, until the last of them has used a version", "[loop]") {
  auto i = three_shards(1);
  auto& m = i.models.front();
  m.replicas = 2;
  m.waves = 2;
  const auto r = run(i);
  CHECK(r.loads == 3 * m.steps);
  CHECK(r.loads + r.hits == count_units(i));
}

TEST_CASE("a version is made when the last sums of all replicas are on the host, once", "[loop]") {
  auto i = three_shards(2);
  auto& m = i.models.front();
  m.replicas = 2;
  m.steps = 1;
  m.optimizer = {100ms, 100ms, 100ms};
  i.devices[1].speed = 0.5;
  i.host_workers = 3;
  const auto r = run(i, "whole-model");
  CHECK(r.makespan == r.compute_end + 100ms);
}

// -- random runs -----------------------------------------------------------------------------------------------------

namespace {

using visit_key = std::tuple<std::uint32_t, std::uint32_t, node_index>;  // model, step, node

schedule_instance random_lanes(std::uint64_t seed) {
  portable_random random{seed};
  const auto some = [&](std::size_t n, std::uint32_t most) {
    std::vector<duration> times(n);
    std::ranges::generate(times, [&] { return std::chrono::microseconds{random.whole(0, most)}; });
    return times;
  };
  schedule_instance i;
  i.name = "random " + std::to_string(seed);
  i.devices.resize(random.whole(1, 4));
  for (auto models = random.whole(1, 3); models > 0; --models) {
    const auto shards = random.whole(1, 4);
    const auto copies = random.share() < 0.5 ? 0 : random.whole(1, 40);
    i.models.push_back({.name = "",
                        .steps = random.whole(1, 3),
                        .replicas = random.whole(1, 3),
                        .waves = random.whole(1, 4),
                        .forward = some(shards, 30),
                        .backward = some(shards, 60),
                        .h2d = some(shards, copies),
                        .d2h_gradient = some(shards, copies),
                        .optimizer = some(shards, 20),
                        .activation = std::chrono::microseconds{copies / 2}});
  }
  i.slots = random.whole(2, 4);
  i.prefetch = random.share() < 0.7;
  i.copy_back_clean = random.share() < 0.2;
  for (std::size_t d = 1; d < i.devices.size(); ++d) {
    i.devices[d].speed = random.share() < 0.5 ? 1 : 0.4;
    if (random.share() < 0.5) {
      i.devices[d].fails = std::chrono::microseconds{random.whole(1, 700)};
    }
  }
  return i;
}

std::vector<instance_chain> chains_of(const schedule_instance& i) {
  std::vector<instance_chain> chains;
  std::ranges::for_each(i.models, [&](const instance_model& m) { chains.emplace_back(m, model_id{}, model_id{}); });
  return chains;
}

node_index node_of(const simulated_unit& u, const work_graph& graph) {
  return graph.lane(u.lane)[u.index];
}

/// When each unit has ended, for each time that it was run.
std::map<visit_key, std::vector<duration>> ends_of(const std::vector<instance_chain>& chains, const simulated_run& r) {
  std::map<visit_key, std::vector<duration>> ends;
  for (const auto& u : r.units) {
    ends[{u.model.value, u.step, node_of(u, chains[u.model.value].graph())}].push_back(u.end);
  }
  return ends;
}

/// Units that must have ended before one begins: its predecessors, and all last units of the step before.
std::vector<visit_key> before(const simulated_unit& u, const work_graph& graph) {
  std::vector<visit_key> all;
  for (const auto n : graph.predecessors(node_of(u, graph))) {
    all.emplace_back(u.model.value, u.step, n);
  }
  for (node_index n; u.index == 0 && u.step > 0 && n.value < graph.size(); n = n.next()) {
    if (graph.ends_lane(n)) {
      all.emplace_back(u.model.value, u.step - 1, n);
    }
  }
  return all;
}

void check_order(const schedule_instance& i, const simulated_run& r) {
  const auto chains = chains_of(i);
  const auto ends = ends_of(chains, r);
  for (const auto& u : r.units) {
    for (const auto& key : before(u, chains[u.model.value].graph())) {
      REQUIRE(ends.contains(key));
      REQUIRE(std::ranges::min(ends.at(key)) <= u.begin);
    }
  }
  REQUIRE(ends.size() == count_units(i));
}

}  // namespace

TEST_CASE("every unit runs once and after its predecessors, whatever the shape, the devices and which of them die",
          "[loop]") {
  std::size_t died = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto i = random_lanes(seed);
    INFO(to_json(i));
    for (const auto* name : {"random", "fifo", "stay-pace", "whole-model"}) {
      INFO(name);
      const auto r = run_in_loop(i, make_policy(name, seed), {.record_order = true});
      REQUIRE(r.units.size() == count_units(i));
      check_order(i, r);
    }
    for (const auto& d : i.devices) {
      died += d.fails ? 1 : 0;
    }
  }
  CHECK(died > 100);
}

TEST_CASE("units whose outputs are lost run again, after their predecessors", "[loop]") {
  std::size_t again = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto i = random_lanes(seed);
    INFO(to_json(i));
    for (const auto* name : {"random", "fifo", "stay-pace"}) {
      INFO(name);
      const auto r = run_in_loop(i, make_policy(name, seed),
                                 {.completion = completion_rule::written_back, .record_order = true});
      check_order(i, r);
      again += r.units.size() - count_units(i);
    }
  }
  CHECK(again > 50);
}

}  // namespace event_loop_lanes_test
