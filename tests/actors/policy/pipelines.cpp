#include "actors/policy/catalog.hpp"
#include "actors/policy/stages.hpp"
#include "tests/actors/policy/hand_made_view.hpp"
#include "tests/support/shape_graphs.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

/// One model in lanes, of which `place` units of step 0 each are placed.
world pipeline(std::size_t devices, const step_shape& shape, const std::vector<std::uint32_t>& place) {
  world w(devices);
  for (std::uint32_t lane = 0; lane < place.size(); ++lane) {
    w.model(1000);
    auto& m = w.models.back();
    m.model = model_id{0};
    m.lane = lane;
    m.shape = shape;
    m.step = step_index{0};
    m.place = place[lane];
  }
  return w;
}

/// Offers the next unit of each of these lanes.
void offer(world& w, const std::vector<std::uint32_t>& lanes) {
  const auto graphs = graphs_of_shape(w.models.front().shape);
  w.candidates.clear();
  for (const auto lane : lanes) {
    const auto n = graphs->step.lane(lane)[w.models[lane].place];
    w.offer(graphs->step.at(n).what).model_at = lane;
  }
}

std::optional<std::uint32_t> wave(const std::string& name, const world& w, std::size_t device) {
  const auto p = make_policy(name, 0);
  const auto i = p->choose(w.devices.at(device), w.candidates, w.view());
  return i ? std::optional{w.candidates[*i].next.wave.value} : std::nullopt;
}

std::vector<std::uint32_t> dealt(const step_shape& shape, dealing how, std::size_t devices, std::uint32_t lane = 0) {
  auto w = pipeline(devices, shape, std::vector<std::uint32_t>(shape.replicas * shape.waves));
  candidate first;
  first.model_at = lane;
  first.next.replica = replica_id{lane / shape.waves};
  const auto s = shared_stages(first, how, w.view());
  std::vector<std::uint32_t> all;
  for (std::uint32_t shard = 0; shard < shape.shards; ++shard) {
    candidate c;
    c.next.shard = shard_index{shard};
    all.push_back(s.device_of(c, w.view()).value);
  }
  return all;
}

using devices = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("shards are dealt to stages in contiguous groups of nearly equal count, or in turn") {
  CHECK(dealt({.shards = 8}, dealing::groups, 3) == devices{0, 0, 0, 1, 1, 1, 2, 2});
  CHECK(dealt({.shards = 8}, dealing::round_robin, 3) == devices{0, 1, 2, 0, 1, 2, 0, 1});
  CHECK(dealt({.shards = 2}, dealing::groups, 5) == devices{0, 1});
  CHECK(dealt({.shards = 4}, dealing::groups, 1) == devices{0, 0, 0, 0});
}

TEST_CASE("replicas take groups of devices, and share devices if there are too few") {
  const step_shape two{.shards = 4, .micro_batches = 4, .replicas = 2, .waves = 2};
  CHECK(dealt(two, dealing::groups, 4, 0) == devices{0, 0, 1, 1});
  CHECK(dealt(two, dealing::groups, 4, 1) == devices{0, 0, 1, 1});
  CHECK(dealt(two, dealing::groups, 4, 2) == devices{2, 2, 3, 3});
  CHECK(dealt({.shards = 2, .micro_batches = 4, .replicas = 4}, dealing::groups, 3, 2) == devices{2, 2});
  CHECK(dealt({.shards = 2, .micro_batches = 4, .replicas = 4}, dealing::groups, 3, 3) == devices{0, 0});
}

TEST_CASE("a stage begins where the one before it ends") {
  for (std::uint32_t shards = 1; shards < 20; ++shards) {
    for (std::size_t count = 1; count < 9; ++count) {
      const stages s(shards, dealing::groups, {.count = count});
      for (std::uint32_t shard = 0; shard < shards; ++shard) {
        const auto stage = s.stage_of(shard_index{shard});
        const bool inside = s.first_shard(stage) <= shard && shard < s.first_shard(stage + 1);
        CHECK(inside);
      }
    }
  }
}

TEST_CASE("a device of a pipeline takes only units of its own stages") {
  auto w = pipeline(2, {.shards = 4}, {0});
  offer(w, {0});
  for (const auto* name : {"naive-pipeline", "gpipe", "one-f-one-b", "interleaved"}) {
    INFO(name);
    CHECK(wave(name, w, 0) == 0);
    CHECK(wave(name, w, 1) == std::nullopt);
  }
}

TEST_CASE("the stages of a lost device are dealt to the devices left") {
  auto w = pipeline(3, {.shards = 3}, {2});
  offer(w, {0});
  CHECK(wave("gpipe", w, 2) == 0);
  w.devices.pop_back();
  CHECK(wave("gpipe", w, 1) == 0);
}

TEST_CASE("another device takes a unit that must not go to that of its stage") {
  auto w = pipeline(2, {.shards = 2}, {0});
  offer(w, {0});
  w.candidates[0].avoided = {device_id{0}};
  CHECK(wave("naive-pipeline", w, 1) == 0);
}

TEST_CASE("a device of the pipeline takes a unit that must not go to that of its stage, nor to the next one") {
  auto w = pipeline(3, {.shards = 3}, {0});
  offer(w, {0});
  w.candidates[0].avoided = {device_id{0}, device_id{1}};
  CHECK(wave("naive-pipeline", w, 2) == 0);
}

TEST_CASE("gpipe: all waves go forward at a stage before the first goes backward there") {
  const step_shape shape{.shards = 2, .micro_batches = 3, .waves = 3};
  auto w = pipeline(2, shape, {2, 1, 0});
  offer(w, {0});
  CHECK(wave("gpipe", w, 0) == std::nullopt);
  offer(w, {0, 2});
  CHECK(wave("gpipe", w, 0) == 2);
  w.models[2].place = 1;
  offer(w, {0});
  CHECK(wave("gpipe", w, 0) == 0);
}

TEST_CASE("gpipe: each wave turns round at the last stage") {
  auto w = pipeline(2, {.shards = 4, .micro_batches = 3, .waves = 3}, {4, 0, 0});
  offer(w, {0});
  CHECK(wave("gpipe", w, 1) == 0);
}

TEST_CASE("gpipe: a lane that has announced nothing, or is steps ahead, is not waited for") {
  auto w = pipeline(2, {.shards = 2, .micro_batches = 3, .waves = 3}, {2, 0, 0});
  w.models[1].step.reset();
  w.models[2].step = step_index{1};
  offer(w, {0});
  CHECK(wave("gpipe", w, 0) == 0);
}

TEST_CASE("one-f-one-b prefers a backward visit, and lets as many waves in as stages follow") {
  const step_shape shape{.shards = 3, .micro_batches = 6, .waves = 6};
  auto w = pipeline(3, shape, {3, 2, 1, 0, 0, 0});
  offer(w, {3});
  CHECK(wave("one-f-one-b", w, 0) == std::nullopt);  // three are under way
  w.models[0].place = 4;                              // the first one goes backward at stage 0
  offer(w, {0, 3});
  CHECK(wave("one-f-one-b", w, 0) == 0);
  w.models[0].place = 5;
  offer(w, {3});
  CHECK(wave("one-f-one-b", w, 0) == 3);
}

TEST_CASE("one-f-one-b never keeps the earliest wave out") {
  auto w = pipeline(2, {.shards = 2, .micro_batches = 3, .waves = 3}, {0, 1, 1});
  offer(w, {0});
  CHECK(wave("one-f-one-b", w, 0) == 0);
}

TEST_CASE("interleaved: a group of waves goes through all chunks of a device before the next one enters") {
  auto w = pipeline(2, {.shards = 4, .micro_batches = 4, .waves = 4}, {2, 2, 0, 0});
  offer(w, {2});
  CHECK(wave("interleaved", w, 0) == std::nullopt);
  offer(w, {0, 2});
  CHECK(wave("interleaved", w, 0) == 0);
}

TEST_CASE("interleaved: after five forward visits a backward visit follows each one") {
  auto w = pipeline(2, {.shards = 4, .micro_batches = 4, .waves = 4}, {4, 3, 1, 0});
  offer(w, {3});
  CHECK(wave("interleaved", w, 0) == std::nullopt);
  offer(w, {0, 3});
  CHECK(wave("interleaved", w, 0) == 0);
  w.models[0].place = 5;
  offer(w, {3});
  CHECK(wave("interleaved", w, 0) == 3);
}
