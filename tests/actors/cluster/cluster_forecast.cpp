// Several nodes in virtual time.

#include "actors/cluster/cluster_forecast.hpp"
#include "actors/cluster/simulated_node.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/session/session.hpp"
#include "actors/simulation/simulation.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/collective/collective.hpp"
#include "tests/support/small_run.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

/// Of a node with one device.
std::function<forecast_setup()> plans_of(const std::vector<sharded_model_ptr>& models) {
  return [models] {
    forecast_setup plan;
    plan.devices.push_back(roomy_device(0));
    plan.models = models;
    plan.chosen = make_policy("sharded-lrtf", 0);
    return plan;
  };
}

/// Models with these numbers of steps, of 6 ms each, on nodes with one device; a checkpoint is 8 MB.
cluster_forecast_setup cluster_of(const std::vector<std::uint32_t>& steps, std::vector<double> speeds,
                                  byte_rate link = {}) {
  std::vector<sharded_model_ptr> models;
  cluster_forecast_setup setup{.models = {}, .plan = {}, .speeds = std::move(speeds), .network = {.node = link}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto name = "m" + std::to_string(i);
    models.push_back(make_simulated_model(even_model(name, 2, steps[i], 2ms, 100us)));
    setup.models.push_back(
        {.name = name, .steps = steps[i], .work = 6ms * steps[i], .checkpoint = byte_count{8'000'000}});
  }
  setup.plan = plans_of(models);
  return setup;
}

double ratio(duration a, duration b) { return seconds(a) / seconds(b); }

}  // namespace

TEST_CASE("one node takes as long as a run without a cluster", "[cluster]") {
  const auto setup = cluster_of({40, 60, 80}, {1});
  const auto f = predict(setup);
  const auto alone = predict(setup.plan());
  CHECK(ratio(f.makespan, alone.makespan) == Approx(1).margin(0.001));
  CHECK(f.limits.best() == alone.limits.best());
  CHECK(f.moves == 0);
}

TEST_CASE("twice as many models on twice as many nodes take the same time", "[cluster]") {
  const auto one = predict(cluster_of({50, 50}, {1}));
  const auto two = predict(cluster_of({50, 50, 50, 50}, {1, 1}));
  CHECK(ratio(two.makespan, one.makespan) == Approx(1).margin(0.001));
  CHECK(two.moves == 0);
}

TEST_CASE("a long run is shortened, and its transfers with it", "[cluster]") {
  // Two moves from the slow node would take as long as the run.
  const auto slow = predict(cluster_of({20000, 18000, 8000}, {1, 0.5}, byte_rate{8e6 / 300}));
  const auto fast = predict(cluster_of({20000, 18000, 8000}, {1, 0.5}, byte_rate{8e9}));
  CHECK(fast.makespan > 100s);
  CHECK(fast.makespan <= slow.makespan);
  CHECK(slow.moves == 0);
  REQUIRE(fast.moves >= 1);
  const auto mean = fast.transit / fast.moves;
  CHECK(mean >= 200ms);
  CHECK(mean < 1s);  // with the end of a step of 9
}

TEST_CASE("models move to a node that is free earlier, if the network is fast enough, and wait for their transfers",
          "[cluster]") {
  // 6 s and 2.4 s of work on the fast node, and 5.4 s on one of half its speed: 10.8 s.
  const std::vector<std::uint32_t> steps{1000, 900, 400};
  const auto stayed = predict(cluster_of(steps, {1, 0.5}, byte_rate{1e6}));  // 8 s for a transfer
  CHECK(stayed.moves == 0);
  CHECK(stayed.makespan >= 10800ms);
  CHECK(stayed.transit == 0s);
  for (const auto transfer : {0ms, 100ms}) {
    const auto rate = transfer > 0ms ? byte_rate{8e6 / 0.1} : byte_rate{};
    const auto f = predict(cluster_of(steps, {1, 0.5}, rate));
    CHECK(f.moves >= 1);
    CHECK(f.moves <= 8);
    CHECK(f.moved == byte_count{8'000'000} * f.moves);
    CHECK(f.transit >= f.moves * (200ms + 2 * transfer));
    CHECK(f.transit <= f.moves * (250ms + 2 * transfer));  // and the end of a step, and until it is seen
    CHECK(f.makespan < stayed.makespan);
    CHECK(f.makespan >= f.limits.best());
  }
}

namespace {

/// A model of four replicas that up to so many nodes train together: a step is 24 ms of computations.
cluster_forecast_setup shared_on(std::size_t nodes, const network_rates& network) {
  auto m = even_model("m", 2, 50, 8ms, 100us);
  m.replicas = m.micro_batches = 4;
  const std::vector models{make_simulated_model(m)};
  return {.models = {{.name = "m", .steps = 50, .work = 24ms * 50, .checkpoint = byte_count{8'000'000}, .nodes = 4}},
          .plan = plans_of(models),
          .speeds = std::vector<double>(nodes, 1.0),
          .network = network};
}

}  // namespace

TEST_CASE("nodes that train a model together each compute their share of a step, and exchange its sums", "[cluster]") {
  const auto alone = predict(shared_on(1, {}));
  CHECK(ratio(alone.makespan, 24ms * 50) == Approx(1).margin(0.1));
  for (const std::uint32_t nodes : {2, 4}) {
    const auto together = predict(shared_on(nodes, {}));
    CHECK(ratio(alone.makespan, together.makespan) == Approx(nodes).margin(0.15 * nodes));
    CHECK(together.makespan >= together.limits.best());
    // Of each of two shards, in two rounds; the last update of a step cannot be hidden, and the first one is its
    // successor's before it.
    const auto slow = predict(shared_on(nodes, {.latency = 5ms}));
    CHECK(slow.makespan >= together.makespan + 50 * 10ms);
    CHECK(slow.makespan <= together.makespan + 51 * 20ms);
  }
  CHECK(predict(shared_on(3, {})).makespan > predict(shared_on(4, {})).makespan);  // one has two replicas
}

TEST_CASE("the share of a node has its part of the replicas, and its updates wait for the others", "[cluster]") {
  auto m = even_model("m", 2, 50, 8ms, 100us);
  m.replicas = m.micro_batches = 4;
  const auto whole = make_simulated_model(m);
  const network_rates network{.latency = 1ms, .node = byte_rate{1e6}};
  const auto share = share_of(*whole, {.nodes = 2}, network);
  CHECK(share->plan.replicas == 2);
  CHECK(share->plan.micro_batches == 2);
  const auto& shard = whole->plan.shards[0];
  CHECK(share->plan.shards[0].forward_time == shard.forward_time / 2);
  CHECK(share->plan.shards[0].backward_time == shard.backward_time / 2);
  const std::vector<std::uint32_t> node_of{0, 0, 1, 1};
  const auto direct = make_direct(node_of, shard.parameters.value() / sizeof(float));
  CHECK(share->plan.shards[0].update_time ==
        shard.update_time + predicted_time(direct, sizeof(float), network, node_of));
  CHECK(share_of(*whole, {.nodes = 3}, network)->plan.replicas == 2);
  const auto gathering = share_of(*whole, {.nodes = 2, .gathers = true}, network);
  CHECK(gathering->plan.gathered_sums == 2);
  // Each node sends its two sums and receives as many.
  CHECK(gathering->plan.shards[0].update_time ==
        shard.update_time + network.latency + network.node.time_for(shard.parameters * 2));
}

TEST_CASE("a model that arrives long after the others have ended is waited for", "[cluster]") {
  auto late = even_model("m", 2, 10, 2ms, 100us);
  late.terms.arrival = 10min;
  const std::vector models{make_simulated_model(late)};
  const auto f = predict({.models = {{.name = "m", .steps = 10, .work = 60ms, .checkpoint = byte_count{1}}},
                          .plan = plans_of(models),
                          .speeds = {1, 1}});
  CHECK(f.makespan > 10min);
  CHECK(f.makespan < 10min + 1s);
}

TEST_CASE("the checkpoint of a model that ends belongs to the run", "[cluster]") {
  const auto at_once = predict(cluster_of({50}, {1}));
  const auto later = predict(cluster_of({50}, {1}, byte_rate{8e7}));  // 0.1 s
  CHECK(later.makespan - at_once.makespan >= 99ms);
  CHECK(later.makespan - at_once.makespan <= 101ms);
}

TEST_CASE("two devices of a node, and models that wait for their memory", "[cluster]") {
  auto setup = cluster_of({60, 60, 60, 60}, {1, 1});
  const auto one = setup.plan;
  setup.plan = [one] {
    auto plan = one();
    plan.devices.push_back(roomy_device(1));
    return plan;
  };
  const auto all = predict(setup);
  setup.plan = [one] {
    auto plan = one();
    plan.devices.push_back(roomy_device(1));
    plan.host_memory = host_demand(std::vector{plan.models[0]->plan}, 2);  // for one of them
    return plan;
  };
  const auto in_turn = predict(setup);
  CHECK(ratio(all.limits.best(), in_turn.limits.best()) == Approx(1));
  CHECK(in_turn.makespan > all.makespan * 19 / 10);
}

TEST_CASE("the work of a planned model is that of its units, in however many lanes", "[cluster]") {
  for (const std::uint32_t replicas : {1, 3}) {
    auto m = tiny_gpt(0.1, false);
    m.batch_size = m.micro_batches = 6;
    m.replicas = replicas;
    m.steps = 40;
    m.cuts = {};
    session s({.log = verbosity::quiet});
    s.add_devices(1, cpu_device{.memory = 8_MiB});
    s.add_model(describe(m, 0));
    INFO(replicas << " replicas");
    CHECK(ratio(s.estimates()[0].work, s.predict().limits.work) == Approx(1).margin(0.05));
    const auto one = predict({.models = s.estimates(), .plan = [&s] { return s.simulated_plan(); }, .speeds = {1}});
    CHECK(one.makespan >= one.limits.best());
    CHECK(ratio(one.makespan, s.predict().makespan) == Approx(1).margin(0.02));
  }
}

TEST_CASE("whatever the nodes and models are, the run ends, above its bound", "[cluster]") {
  for (std::uint32_t seed = 1; seed <= 15; ++seed) {
    std::mt19937 draw(seed);
    const auto pick = [&](std::uint32_t least, std::uint32_t most) { return least + draw() % (most - least + 1); };
    std::vector<std::uint32_t> steps(pick(1, 9));
    for (auto& s : steps) s = pick(1, 60);
    std::vector<double> speeds(pick(1, 4));
    for (auto& s : speeds) s = pick(1, 4) / 4.0;
    INFO("seed " << seed);
    const auto f = predict(cluster_of(steps, speeds, byte_rate{1e8 * pick(0, 3)}));
    CHECK(f.makespan >= f.limits.best());
    CHECK(ratio(f.makespan, f.limits.best()) < 8);
  }
}
