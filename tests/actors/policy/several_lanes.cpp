#include "actors/policy/several_lanes.hpp"
#include "actors/policy/stay_pace.hpp"
#include "tests/actors/policy/hand_made_view.hpp"
#include "tests/support/shape_graphs.hpp"

#include <catch2/catch.hpp>

#include <cstdint>

using namespace hydra;
using namespace hydra::test;

namespace {

/// Models of these lanes; forward visits take 10 us. Each lane offers its first unit.
struct lanes_world : world {
  lanes_world(std::size_t of_speed_1, std::uint32_t count, const step_shape& shape) : world(of_speed_1) {
    for (std::uint32_t m = 0; m < count; ++m) {
      for (std::uint32_t i = 0; i < shape.replicas * shape.waves; ++i) {
        add(model_id{m}, i, shape);
      }
    }
  }

  void add(model_id id, std::uint32_t i, const step_shape& shape) {
    model(1000);
    auto& s = models.back();
    s.model = id;
    s.lane = i;
    s.shape = shape;
    s.step = step_index{0};
    const auto graphs = graphs_of_shape(shape);
    auto u = graphs->step.at(graphs->step.lane(i).front()).what;
    u.model = id;
    auto& c = offer(u);
    c.model_at = models.size() - 1;
    c.cost = us(10);
  }

  void loads_take(int load_us) {
    for (auto& c : candidates) {
      c.transfer_time = us(load_us);
    }
  }

  /// Model and lane that the device takes.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> taken(std::size_t device) {
    times.look(candidates, view());
    const auto i = lanes.choose(devices.at(device), candidates, view());
    return i ? std::optional{std::pair{candidates[*i].next.model.value, models[candidates[*i].model_at].lane}}
             : std::nullopt;
  }

  seen_times times;
  several_lanes lanes{times};
};

using lane = std::pair<std::uint32_t, std::uint32_t>;
constexpr step_shape two_replicas{.shards = 4, .micro_batches = 2, .replicas = 2};
constexpr step_shape two_waves{.shards = 4, .micro_batches = 2, .waves = 2};

}  // namespace

TEST_CASE("lanes: while loads are short the longest remaining time comes first, on any device") {
  lanes_world w(4, 1, two_replicas);
  w.loads_take(10);
  w.candidates[0].remaining = us(1001);
  CHECK(w.taken(0) == lane{0, 0});
  CHECK(w.taken(3) == lane{0, 0});
}

TEST_CASE("lanes: each replica has devices of its own if loads are long and there are two for each") {
  lanes_world w(4, 1, two_replicas);
  w.loads_take(21);  // longer than a backward visit, of which nothing is known yet
  CHECK(w.taken(0) == lane{0, 0});
  CHECK(w.taken(1) == std::nullopt);
  CHECK(w.taken(2) == lane{0, 1});
  CHECK(w.taken(3) == std::nullopt);
}

TEST_CASE("lanes: replicas without waves do not keep to devices if units wait for the write-back of the one before") {
  lanes_world w(4, 1, two_replicas);
  w.loads_take(21);
  w.models[0].flights = 1;  // neither staged nor computing
  CHECK(w.taken(1).has_value());
}

TEST_CASE("lanes: replicas without waves do not keep to devices if a load is hidden by a backward visit") {
  lanes_world w(4, 1, two_replicas);
  w.loads_take(20);
  CHECK(w.taken(1).has_value());
}

TEST_CASE("lanes: replicas share devices if there are fewer than two for each of all models") {
  lanes_world w(4, 2, two_replicas);
  w.loads_take(100);
  CHECK(w.taken(1).has_value());
  CHECK(w.taken(3).has_value());
}

TEST_CASE("lanes: with waves devices keep to shards in turn, and waves go through a chunk one after the other") {
  lanes_world w(2, 1, two_waves);
  w.loads_take(11);
  CHECK(w.taken(1) == std::nullopt);
  CHECK(w.taken(0) == lane{0, 0});
  w.models[0].place = 2;
  w.candidates[0].next.shard = shard_index{2};  // the second chunk of device 0
  CHECK(w.taken(0) == lane{0, 1});
}

TEST_CASE("lanes: with waves one device for each replica is enough, and none is left over") {
  constexpr step_shape shape{.shards = 4, .micro_batches = 4, .replicas = 2, .waves = 2};
  lanes_world two(2, 1, shape);
  two.loads_take(11);
  CHECK(two.taken(0) == lane{0, 0});
  CHECK(two.taken(1) == lane{0, 2});
  lanes_world three(3, 1, shape);
  three.loads_take(11);
  three.models[2].place = 1;
  three.candidates[2].next.shard = shard_index{1};  // on the second device of the second replica
  CHECK(three.taken(2) == lane{0, 2});
}

TEST_CASE("lanes: a shard on the device comes first, one on another device last while lanes wait for devices") {
  lanes_world w(3, 2, two_replicas);
  w.loads_take(100);
  CHECK(w.taken(0) == lane{0, 0});
  w.candidates[0].elsewhere = device_id{1};
  CHECK(w.taken(0) == lane{0, 1});
  w.candidates[3].hit = true;
  CHECK(w.taken(0) == lane{1, 1});
  w.candidates[3].hit = false;
  w.candidates[1].elsewhere = w.candidates[2].elsewhere = w.candidates[3].elsewhere = device_id{1};
  w.candidates[0].remaining = us(999);
  w.candidates[0].chained = true;  // no other device may take it now
  CHECK(w.taken(0) == lane{0, 0});
}

TEST_CASE("lanes: a device that writes back several units takes forward visits, and leaves backward visits to others") {
  lanes_world w(3, 2, two_replicas);
  w.loads_take(100);
  CHECK(w.taken(0) == lane{0, 0});  // it has seen how long a forward visit takes
  for (const auto i : {0, 1, 2}) {
    w.models[i].flights = 1;
    w.models[i].ended = device_id{0};
  }
  w.candidates[0].next.way = direction::backward;
  w.candidates[0].hit = true;
  CHECK(w.taken(0) == lane{0, 1});
  w.candidates.resize(1);
  CHECK(w.taken(0) == std::nullopt);
  CHECK(w.taken(1) == lane{0, 0});
  w.models[2].flights = 0;
  CHECK(w.taken(0) == lane{0, 0});
}

TEST_CASE("lanes: a piece is left to a free device that has it, unless that one would not take it") {
  lanes_world w(2, 1, two_replicas);
  w.candidates.resize(1);
  auto& piece = w.candidates.front();
  auto& holder = w.devices[1];
  w.models[piece.model_at].shape.abreast = 2;
  holder.idle = true;
  piece.elsewhere = holder.device;
  const auto takes = [&] { return w.taken(0).has_value(); };
  CHECK_FALSE(takes());
  SECTION("it has no slot") { holder.has_slot = false; }
  SECTION("it computes") { holder.idle = false; }
  SECTION("something is staged there") { holder.staged = us(1); }
  SECTION("attempts have failed there") { piece.avoided = {holder.device}; }
  SECTION("only the asked one may stage it") { piece.chained = true; }
  SECTION("the asked one has it, too") { piece.hit = true; }
  SECTION("it is no piece") { w.models[piece.model_at].shape.abreast = 1; }
  CHECK(takes());
}

TEST_CASE("lanes: candidates of different models that read the same base share it; those of one model do not") {
  lanes_world w(1, 2, two_replicas);
  CHECK_FALSE(several_lanes::share_base(w.candidates));
  block_id base;
  base.kind = block_kind::base;
  w.candidates[0].base = w.candidates[1].base = base;  // replicas of the first model
  CHECK_FALSE(several_lanes::share_base(w.candidates));
  w.candidates[2].base = base;
  CHECK(several_lanes::share_base(w.candidates));
  w.candidates[2].base->shard = shard_index{1};
  CHECK_FALSE(several_lanes::share_base(w.candidates));
}

TEST_CASE("stay-pace takes the shard that is cached first if models share their bases, on any device") {
  lanes_world w(1, 3, {.shards = 2});
  w.loads_take(100);
  stay_pace policy;
  const auto model_taken = [&] {
    return w.candidates[*policy.choose(w.devices[0], w.candidates, w.view())].next.model;
  };
  w.devices[0].idle = false;
  w.devices[0].running = w.devices[0].last = model_id{0};
  w.candidates[2].hit = true;
  w.candidates[0].remaining = us(1500);  // critical
  CHECK(model_taken() == model_id{0});
  for (auto& c : w.candidates) {
    c.base = block_id{};
    c.base->kind = block_kind::base;
  }
  CHECK(model_taken() == model_id{2});
}

TEST_CASE("lanes: with a device for each lane a shard is loaded where another device has it") {
  lanes_world w(4, 2, two_replicas);
  w.loads_take(100);
  w.candidates[3].elsewhere = device_id{1};
  CHECK(w.taken(0) == lane{1, 1});
}

TEST_CASE("lanes: with a device for each wave, waves without long loads are not a pipeline") {
  for (const std::size_t devices : {1, 2}) {
    lanes_world w(devices, 1, two_waves);
    w.loads_take(1);
    w.models[0].flights = 1;  // neither staged nor computing
    w.candidates[1].next.shard = shard_index{1};
    w.candidates[1].remaining = us(2000);
    CHECK(w.taken(0) == lane{0, devices == 1 ? 0U : 1U});  // in a pipeline the first wave comes first
  }
}
