// Steps in replicas and waves in the event loop: the textbook times of the pipelines, and the default beside them.

#include "actors/policy/catalog.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/instance_bounds.hpp"
#include "actors/simulation/remaining_scale.hpp"
#include "tests/support/depth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using hydra::test::sampled;

namespace {

constexpr duration ms = std::chrono::milliseconds{1};

/// One model of equal shards: a forward unit takes 1 ms, a backward unit 2 ms, nothing else takes time.
schedule_instance pipeline(std::uint32_t devices, std::uint32_t shards, std::uint32_t waves, std::uint32_t steps = 1) {
  instance_model m;
  m.name = "m";
  m.steps = steps;
  m.waves = waves;
  m.forward.assign(shards, 1 * ms);
  m.backward.assign(shards, 2 * ms);
  m.h2d.assign(shards, {});
  m.d2h_gradient = m.optimizer = m.h2d;
  schedule_instance i;
  i.name = "pipeline";
  i.slots = shards + 2;
  i.devices.resize(devices);
  i.models.push_back(m);
  return i;
}

duration makespan(const schedule_instance& i, const std::string& policy,
                  completion_rule rule = completion_rule::ended) {
  const auto run = run_in_loop(i, make_policy(policy, 0), {.completion = rule});
  CHECK(run.replacements.empty());
  return run.makespan;
}

constexpr std::uint32_t device_counts[]{2, 3, 4, 8};

/// One of the cells in which the default is compared: equal models of 8 shards; a whole step's visits take 1 and 3 ms,
/// and a load rho times their mean.
struct cell {
  std::uint32_t models;
  std::uint32_t devices;
  double rho;
  std::uint32_t replicas;
  std::uint32_t waves;
  std::uint32_t steps;
};

schedule_instance instance_of(const cell& c) {
  const auto part = [&](double us) {
    return duration{static_cast<std::int64_t>(us * 1000 / (c.replicas * c.waves))};
  };
  constexpr std::uint32_t shards = 8;
  instance_model m;
  m.name = "m";
  m.steps = c.steps;
  m.replicas = c.replicas;
  m.waves = c.waves;
  m.forward.assign(shards, part(1000));
  m.backward.assign(shards, part(3000));
  m.h2d.assign(shards, duration{static_cast<std::int64_t>(c.rho * 2'000'000)});
  m.d2h_gradient = m.h2d;
  m.optimizer.assign(shards, {});
  m.activation = part(100);
  schedule_instance i;
  i.name = "cell";
  i.devices.resize(c.devices);
  i.models.assign(c.models, m);
  measure_scales(i);
  return i;
}

/// Every number of models, devices and rho, for each shape of a step.
std::vector<cell> cells_of(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& shapes, std::uint32_t steps) {
  std::vector<cell> all;
  for (const std::uint32_t models : {1, 2, 4, 12}) {
    for (const std::uint32_t devices : {2, 8}) {
      for (const double rho : {0.1, 0.5, 1.0}) {
        for (const auto& [replicas, waves] : shapes) {
          all.push_back({models, devices, rho, replicas, waves, steps});
        }
      }
    }
  }
  return all;
}

/// Against the best of the pipelines and sharded-lrtf.
void check_default(const cell& c, completion_rule rule, double behind) {
  const auto i = instance_of(c);
  auto best = duration::max();
  for (const auto* policy : {"naive-pipeline", "gpipe", "one-f-one-b", "interleaved", "sharded-lrtf"}) {
    best = std::min(best, makespan(i, policy, rule));
  }
  const auto mine = makespan(i, default_policy, rule);
  INFO(c.models << " models, " << c.devices << " devices, rho " << c.rho << ", " << c.replicas << " replicas, "
                << c.waves << " waves, " << c.steps << " steps: " << to_string(mine) << ", best of the others "
                << to_string(best));
  CHECK(static_cast<double>(mine.count()) <= (1 + behind) * static_cast<double>(best.count()));
}

}  // namespace

TEST_CASE("gpipe and 1F1B leave (D - 1) / (W + D - 1) of the time unused", "[pipelines]") {
  for (const auto d : device_counts) {
    for (std::uint32_t w = 1; w <= 16; ++w) {
      for (const std::uint32_t shards_per_stage : {1, 3}) {
        INFO(d << " devices, " << w << " waves, " << shards_per_stage << " shards per stage");
        const auto expected = (w + d - 1) * shards_per_stage * 3 * ms;
        for (const auto* policy : {"gpipe", "one-f-one-b"}) {
          CHECK(makespan(pipeline(d, d * shards_per_stage, w), policy) == expected);
          CHECK(makespan(pipeline(d, d * shards_per_stage, w, 3), policy) == 3 * expected);
        }
      }
    }
  }
}

TEST_CASE("interleaved with v chunks on each device leaves (D - 1) / (v W + D - 1) of the time unused", "[pipelines]") {
  for (const auto d : device_counts) {
    for (std::uint32_t w = d; w <= 16; w += d) {
      for (const std::uint32_t chunks : {1, 2, 3, 4}) {
        INFO(d << " devices, " << w << " waves, " << chunks << " chunks");
        const auto expected = (chunks * w + d - 1) * 3 * ms;
        CHECK(makespan(pipeline(d, d * chunks, w), "interleaved") == expected);
        CHECK(makespan(pipeline(d, d * chunks, w, 3), "interleaved") == 3 * expected);
      }
    }
  }
}

TEST_CASE("naive-pipeline without waves takes as long as the chain of its units", "[pipelines]") {
  for (const auto d : device_counts) {
    const auto i = pipeline(d, 8, 1, 2);
    CHECK(makespan(i, "naive-pipeline") == bounds_of(i).limits.chain);
  }
}

TEST_CASE("naive-pipeline loads each shard once a step, however many shards a model has", "[pipelines]") {
  auto i = pipeline(4, 4, 1, 3);
  i.slots = 2;
  i.models[0].h2d.assign(4, 1 * ms);
  const auto run = run_in_loop(i, make_policy("naive-pipeline", 0));
  CHECK(run.loads == 12);
  CHECK(run.makespan == 3 * 4 * (1 + 3) * ms);  // no device can load a shard before it is its turn
}

TEST_CASE("the default is nowhere more than one per cent behind the pipelines and sharded-lrtf", "[pipelines]") {
  const auto rule = GENERATE(completion_rule::ended, completion_rule::written_back);
  const auto steps = GENERATE(4U, 10U);
  for (const auto& c : sampled(cells_of({{1, 1}, {1, 4}, {2, 1}, {4, 1}, {8, 1}, {2, 4}}, steps), 8)) {
    check_default(c, rule, 0.01);
  }
}

TEST_CASE("with as many waves as devices or more the default is nowhere more than four per cent behind",
          "[pipelines]") {
  const auto rule = GENERATE(completion_rule::ended, completion_rule::written_back);
  for (const auto& c : sampled(cells_of({{1, 8}, {1, 16}, {2, 8}}, 4), 6)) {
    check_default(c, rule, 0.04);
  }
}
