#include "actors/policy/schedule_tracker.hpp"

#include "actors/policy/sharded_lrtf.hpp"
#include "actors/policy/stay_pace.hpp"
#include "actors/policy/whole_model.hpp"
#include "runtime/base/fault.hpp"
#include "tests/actors/policy/units.hpp"
#include "tests/support/shape_graphs.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

constexpr device_id d0{0};
constexpr device_id d1{1};
constexpr device_id d2{2};

using choice =
    std::function<std::optional<std::size_t>(const device_state&, std::span<const candidate>, const policy_view&)>;

/// A policy made of a function.
class scripted final : public policy {
 public:
  explicit scripted(choice c, std::uint32_t depth = most_staged) : choice_(std::move(c)), depth_(depth) {}
  std::string name() const override { return "scripted"; }
  std::uint32_t depth() const override { return depth_; }
  std::optional<std::size_t> choose(const device_state& d, std::span<const candidate> c,
                                    const policy_view& v) override {
    return choice_(d, c, v);
  }

 private:
  choice choice_;
  std::uint32_t depth_;
};

model_traits of_shape(const step_shape& shape) { return {.shape = shape, .graphs = graphs_of_shape(shape)}; }

/// `devices` of speed 1 with one credit each and `models` models of three shards that have announced their first unit.
schedule_tracker open(std::uint32_t devices, std::uint32_t models,
                      std::unique_ptr<policy> p = std::make_unique<sharded_lrtf>()) {
  schedule_tracker b{std::move(p)};
  for (std::uint32_t d = 0; d < devices; ++d) {
    b.add_device(device_id{d}, 1.0);
    b.device_freed(device_id{d}, 1, std::nullopt, at(0));
  }
  for (std::uint32_t m = 0; m < models; ++m) {
    b.add_model(model_id{m}, of_shape({.shards = 3}));
    REQUIRE(b.announce(ready(forward(m, 0, 0)), at(0)));
  }
  return b;
}

schedule_tracker open(std::uint32_t devices, std::uint32_t models, choice c) {
  return open(devices, models, std::make_unique<scripted>(std::move(c)));
}

constexpr auto first = [](const auto&...) { return std::optional<std::size_t>{0}; };
constexpr auto nothing = [](const auto&...) { return std::optional<std::size_t>{}; };

/// Whether the first candidate's parameters are where it would go; chooses nothing.
choice notes_hit(bool& hit) {
  return [&hit](const auto&, std::span<const candidate> c, const auto&) {
    hit = c[0].transfer == byte_count{};
    return std::nullopt;
  };
}

}  // namespace

// -- credits ---------------------------------------------------------------------------------------------------------

TEST_CASE("a device starts without credit and gets no unit", "[schedule-tracker]") {
  schedule_tracker b{std::make_unique<sharded_lrtf>()};
  b.add_device(d0, 1.0);
  b.add_model(model_id{0}, of_shape({.shards = 3}));
  b.announce(ready(forward(0, 0, 0)), at(0));
  CHECK(b.decide(at(0)).empty());
  b.device_freed(d0, 1, std::nullopt, at(0));
  CHECK(b.decide(at(0)) == std::vector<placement>{{forward(0, 0, 0), d0}});
}

TEST_CASE("each placement costs the credit that device_freed gave", "[schedule-tracker]") {
  auto b = open(1, 3);
  CHECK(b.decide(at(0)).size() == 1);
  CHECK(b.credits(d0) == 0);
  CHECK(b.decide(at(0)).empty());
  b.device_freed(d0, 1, forward(0, 0, 0), at(1));
  CHECK(b.decide(at(1)).size() == 1);
  b.device_freed(d0, 0, std::nullopt, at(2));
  CHECK(b.decide(at(2)).empty());
}

TEST_CASE("a device has waited for the decision that gives it a unit if it had nothing to compute", "[schedule-tracker]") {
  auto b = open(1, 3, first);
  b.device_freed(d0, 1, std::nullopt, at(0));
  const auto idle = b.decide(at(1));
  REQUIRE(idle.size() == 2);
  CHECK(idle[0].waited);
  CHECK_FALSE(idle[1].waited);  // behind the first one
  b.device_freed(d0, 2, idle[0].next, at(2));
  const auto busy = b.decide(at(2));
  REQUIRE(busy.size() == 1);
  CHECK_FALSE(busy[0].waited);
}

TEST_CASE("a lost device has no credit and gets no units", "[schedule-tracker]") {
  auto b = open(1, 1);
  b.device_lost(d0);
  b.device_freed(d0, 1, std::nullopt, at(1));
  CHECK(b.credits(d0) == 0);
  CHECK(b.device_count() == 0);
  CHECK(b.decide(at(1)).empty());
}

// -- order of asking -------------------------------------------------------------------------------------------------

TEST_CASE("idle devices are asked first, then faster ones, then lower ids", "[schedule-tracker]") {
  std::vector<std::uint32_t> asked;
  schedule_tracker b{std::make_unique<scripted>([&](const device_state& d, const auto&...) {
    asked.push_back(d.device.value);
    return std::optional<std::size_t>{};
  })};
  for (std::uint32_t d = 0; d < 5; ++d) {
    b.add_device(device_id{d}, d == 3 || d == 0 ? 2.0 : 1.0);
    b.device_freed(device_id{d}, 1, d == 0 ? std::optional{forward(9, 0, 0)} : std::nullopt, at(0));
  }
  b.add_model(model_id{0}, of_shape({.shards = 3}));
  b.announce(ready(forward(0, 0, 0)), at(0));
  CHECK(b.decide(at(0)).empty());
  CHECK(asked == std::vector<std::uint32_t>{3, 1, 2, 4, 0});
  CHECK(b.decisions() == 5);
}

TEST_CASE("passes repeat until one places nothing", "[schedule-tracker]") {
  int asked = 0;
  auto b = open(2, 3, [&](const device_state& d, const auto&...) {  // device 0 wants nothing before the second pass
    return ++asked > 1 || d.device == d1 ? std::optional<std::size_t>{0} : std::nullopt;
  });
  b.device_freed(d1, 1, std::nullopt, at(0));
  const std::vector<placement> expected{{forward(0, 0, 0), d1}, {forward(1, 0, 0), d0}, {forward(2, 0, 0), d1}};
  CHECK(b.decide(at(0)) == expected);
}

TEST_CASE("a device without candidates is not asked", "[schedule-tracker]") {
  auto b = open(1, 0, first);
  CHECK(b.decide(at(0)).empty());
  CHECK(b.decisions() == 0);
}

TEST_CASE("a policy that chooses what is not a candidate breaks its contract", "[schedule-tracker]") {
  auto b = open(1, 1, [](const auto&...) { return std::optional<std::size_t>{1}; });
  CHECK_THROWS_AS(b.decide(at(0)), fault_error);
}

TEST_CASE("what a policy placed before it threw stays placed and is reported", "[schedule-tracker]") {
  int asked = 0;
  auto b = open(2, 2, [&](const auto&...) -> std::optional<std::size_t> {
    return asked++ == 0 ? 0 : throw std::runtime_error{"broken"};
  });
  std::vector<placement> placed;
  const auto collect = [&](const placement& p) { placed.push_back(p); };
  CHECK_THROWS_AS(b.decide(at(0), collect), std::runtime_error);
  CHECK(placed == std::vector<placement>{{forward(0, 0, 0), d0}});
  b.replace_policy(std::make_unique<sharded_lrtf>());
  b.decide(at(0), collect);
  CHECK(placed == std::vector<placement>{{forward(0, 0, 0), d0}, {forward(1, 0, 0), d1}});
}

// -- what the policy sees --------------------------------------------------------------------------------------------

TEST_CASE("candidates are in the order of ids, whatever the order of announcements", "[schedule-tracker]") {
  std::vector<std::uint32_t> seen;
  auto b = open(1, 0, [&](const auto&, std::span<const candidate> candidates, const auto&) {
    for (const auto& c : candidates) {
      seen.push_back(c.next.model.value);
    }
    return std::nullopt;
  });
  for (const std::uint32_t m : {2U, 0U, 3U, 1U}) {
    b.add_model(model_id{m}, of_shape({.shards = 3}));
    b.announce(ready(forward(m, 0, 0)), at(0));
  }
  b.decide(at(0));
  CHECK(seen == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("a device that holds the parameters has nothing to transfer", "[schedule-tracker]") {
  std::vector<byte_count> transfer(2);
  auto b = open(2, 1, [&](const device_state& d, std::span<const candidate> c, const auto&) {
    transfer[d.device.value] = c[0].transfer;
    CHECK(c[0].parameters == byte_count{100});
    return std::nullopt;
  });
  const std::vector block{parameters(forward(0, 0, 0))};
  b.blocks_cached(d1, block, {});
  b.decide(at(0));
  CHECK(transfer == std::vector{byte_count{100}, byte_count{0}});
  b.blocks_cached(d1, {}, block);
  b.decide(at(0));
  CHECK(transfer == std::vector{byte_count{100}, byte_count{100}});
}

TEST_CASE("parameters of another version or shard are not a hit, nor are other blocks", "[schedule-tracker]") {
  byte_count transfer;
  auto b = open(1, 1, [&](const auto&, std::span<const candidate> c, const auto&) {
    transfer = c[0].transfer;
    return std::nullopt;
  });
  auto activation = parameters(forward(0, 0, 0));
  activation.kind = block_kind::activation;
  b.blocks_cached(d0, std::vector{parameters(forward(0, 1, 0)), parameters(forward(0, 0, 1)), activation}, {});
  b.decide(at(0));
  CHECK(transfer == byte_count{100});
}

TEST_CASE("the view says what devices compute, computed and when they will be free", "[schedule-tracker]") {
  std::vector<device_state> devices;
  duration until_free{};
  auto b = open(0, 1, [&](const auto&, const auto&, const policy_view& v) {
    devices.assign(v.devices.begin(), v.devices.end());
    until_free = v.until_free(devices[0]);
    return devices.size() == 1 ? std::optional<std::size_t>{0} : std::nullopt;
  });
  b.add_device(d0, 0.5);
  b.device_freed(d0, 1, std::nullopt, at(0));
  b.decide(at(3));
  CHECK((devices[0].idle && until_free == duration{} && !devices[0].running && !devices[0].last));
  b.device_freed(d0, 1, forward(0, 0, 0), at(4));
  b.add_device(d1, 1.0);
  b.announce(ready(forward(0, 0, 1)), at(5));
  b.decide(at(5));
  CHECK(
      (!devices[0].idle && devices[0].running == model_id{0} && devices[0].free_at == at(24)));  // 10 us at half speed
  CHECK(until_free == std::chrono::microseconds{19});
  b.decide(at(30));
  CHECK(until_free == duration{});
  b.device_freed(d0, 0, std::nullopt, at(31));
  b.decide(at(32));
  CHECK((devices[0].idle && !devices[0].running && devices[0].last == model_id{0}));
}

TEST_CASE("the view of models follows placements within one decision", "[schedule-tracker]") {
  std::vector<std::vector<model_state>> seen;
  auto b = open(2, 2, [&](const auto&, const auto&, const policy_view& v) {
    seen.emplace_back(v.models.begin(), v.models.end());
    return std::optional<std::size_t>{0};
  });
  b.decide(at(0));
  REQUIRE(seen.size() == 2);
  CHECK((seen[0][0].candidate && seen[0][0].flights == 0));
  CHECK((!seen[1][0].candidate && seen[1][0].flights == 1));
  CHECK(seen[1][0].remaining == seen[0][0].remaining - std::chrono::microseconds{10});
  CHECK(seen[1][1].candidate);
}

// -- the hint --------------------------------------------------------------------------------------------------------

TEST_CASE("a successor may be staged only on the device of its predecessor until that has completed",
          "[schedule-tracker]") {
  auto b = open(2, 1, first);
  REQUIRE(b.decide(at(0)) == std::vector<placement>{{forward(0, 0, 0), d0}});
  b.announce(ready(forward(0, 0, 1), d0), at(0));
  CHECK(b.decide(at(0)).empty());
  b.unit_completed(forward(0, 0, 0), at(1));
  CHECK(b.decide(at(1)) == std::vector<placement>{{forward(0, 0, 1), d1}});
}

TEST_CASE("a bound unit is shown to its device among the others, in order, as chained", "[schedule-tracker]") {
  std::vector<bool> chained;
  auto b = open(1, 3, [&](const auto&, std::span<const candidate> c, const auto&) {
    chained.clear();
    for (const auto& x : c) {
      chained.push_back(x.chained);
    }
    return std::optional<std::size_t>{c.size() / 2};
  });
  REQUIRE(b.decide(at(0)).front().next == forward(1, 0, 0));
  b.announce(ready(forward(1, 0, 1), d0), at(0));
  b.device_freed(d0, 1, forward(1, 0, 0), at(1));
  CHECK(b.decide(at(1)) == std::vector<placement>{{forward(1, 0, 1), d0}});
  CHECK(chained == std::vector{false, true, false});
}

// -- lanes -----------------------------------------------------------------------------------------------------------

namespace {

unit of_replica(const unit& u, std::uint32_t replica) { return in_lane(u, 0, replica); }

/// Two devices and a model in two replicas, both announced.
schedule_tracker replicated(choice c) {
  auto b = open(2, 0, std::move(c));
  b.add_model(model_id{0}, of_shape({.shards = 2, .micro_batches = 2, .replicas = 2}));
  for (const std::uint32_t r : {0, 1}) {
    REQUIRE(b.announce(ready(of_replica(forward(0, 0, 0), r)), at(0)));
  }
  return b;
}

}  // namespace

TEST_CASE("each lane of a model is a candidate and has a state of its own", "[schedule-tracker]") {
  std::vector<std::uint32_t> lanes;
  auto b = replicated([&](const auto&, std::span<const candidate> c, const policy_view& v) {
    for (const auto& each : c) {
      lanes.push_back(v.models[each.model_at].lane);
      CHECK(each.next.replica.value == v.models[each.model_at].lane);
    }
    return std::optional<std::size_t>{c.size() - 1};
  });
  CHECK(b.decide(at(0)) == std::vector<placement>{{of_replica(forward(0, 0, 0), 1), d0}, {forward(0, 0, 0), d1}});
  CHECK(lanes == std::vector<std::uint32_t>{0, 1, 0});
  CHECK(b.flights_of(model_id{0}).size() == 2);
}

TEST_CASE("a failed unit undoes flights of its lane only", "[schedule-tracker]") {
  auto b = replicated(first);
  REQUIRE(b.decide(at(0)).size() == 2);
  const auto lost = b.unit_failed(of_replica(forward(0, 0, 0), 1));
  REQUIRE(lost.size() == 1);
  CHECK(units_of(lost[0].lost) == std::vector{of_replica(forward(0, 0, 0), 1)});
  CHECK(lost[0].next_attempt == 1);
  CHECK(b.unit_completed(forward(0, 0, 0), at(1)));
}

TEST_CASE("a model that has left is there until the flights of all its lanes have ended", "[schedule-tracker]") {
  auto b = replicated(first);
  REQUIRE(b.decide(at(0)).size() == 2);
  b.remove_model(model_id{0});
  CHECK(b.view(at(0)).models.empty());
  CHECK(b.unit_completed(forward(0, 0, 0), at(1)));
  CHECK(b.unit_completed(of_replica(forward(0, 0, 0), 1), at(1)));
  CHECK(b.flight_count() == 0);
}

TEST_CASE("all models have announced if each lane has, or waits for another lane", "[schedule-tracker]") {
  auto b = open(2, 1, first);
  b.device_freed(d0, 9, std::nullopt, at(0));
  b.add_model(model_id{1}, of_shape({.shards = 2, .micro_batches = 2, .replicas = 2}));
  CHECK_FALSE(b.all_announced());
  REQUIRE(b.announce(ready(forward(1, 0, 0)), at(0)));
  CHECK_FALSE(b.all_announced());  // the other one waits for its batch
  REQUIRE(b.announce(ready(of_replica(forward(1, 0, 0), 1)), at(0)));
  CHECK(b.all_announced());
}

TEST_CASE("a lane that has announced nothing may wait for another one", "[schedule-tracker]") {
  auto b = open(1, 0, nothing);
  b.add_model(model_id{0}, of_shape({.shards = 1, .micro_batches = 3, .waves = 3}));
  CHECK_FALSE(b.all_announced());
  REQUIRE(b.announce(ready(backward(0, 0, 0)), at(0)));  // the next wave continues its sum of gradients
  CHECK(b.all_announced());
  CHECK(b.starved());
}

TEST_CASE("a policy may hold waves while an earlier one waits for its version, not while one waits for what it holds",
          "[schedule-tracker]") {
  auto b = open(1, 0, first);
  b.device_freed(d0, 2, std::nullopt, at(0));
  b.add_model(model_id{0}, of_shape({.shards = 2, .micro_batches = 3, .waves = 3}));
  for (const std::uint32_t wave : {0, 1}) {
    REQUIRE(b.announce(ready(in_lane(forward(0, 1, 0), wave)), at(0)));
  }
  REQUIRE(b.decide(at(0)).size() == 2);
  for (const std::uint32_t wave : {0, 1}) {
    REQUIRE(b.unit_completed(in_lane(forward(0, 1, 0), wave), at(1)));
  }
  REQUIRE(b.announce(ready(in_lane(forward(0, 1, 0), 2)), at(1)));
  CHECK_FALSE(b.all_announced());  // B_1 of wave 0 waits for version 1 of its shard
  REQUIRE(b.announce(ready(backward(0, 1, 1)), at(2)));
  CHECK(b.all_announced());        // that of wave 1 waits for the one of wave 0
}

// -- waves -----------------------------------------------------------------------------------------------------------

namespace {

/// Three devices with credit for everything, and a model of two shards in two replicas of three waves.
schedule_tracker in_waves() {
  auto b = open(3, 0, std::make_unique<scripted>(first));
  for (const auto d : {d0, d1, d2}) {
    b.device_freed(d, 20, std::nullopt, at(0));
  }
  b.add_model(model_id{0}, of_shape({.shards = 2, .micro_batches = 6, .replicas = 2, .waves = 3}));
  return b;
}

/// One micro-batch each.
unit of_wave(unit u, std::uint32_t wave, std::uint32_t replica = 0) {
  u = in_lane(u, wave, replica);
  u.first_micro_batch = micro_batch_index{replica * 3 + wave};
  return u;
}

/// Announces a unit and places it on the device.
void fly(schedule_tracker& b, const unit& u, device_id device) {
  REQUIRE(b.announce(ready(u), at(0)));
  b.replace_policy(std::make_unique<scripted>([&](const device_state& d, const auto&...) {
    return d.device == device ? std::optional<std::size_t>{0} : std::nullopt;
  }));
  REQUIRE(b.decide(at(0)) == std::vector<placement>{{u, device}});
}

/// Wave w of replica 0 on device w: wave 0 up to B_0, wave 1 up to B_1, wave 2 up to F_0. F_0 of replica 1 on device 0.
schedule_tracker waves_in_flight() {
  auto b = in_waves();
  for (const std::uint32_t w : {0, 1, 2}) {
    fly(b, of_wave(forward(0, 0, 0), w), device_id{w});
    if (w < 2) {
      fly(b, of_wave(backward(0, 0, 1), w), device_id{w});
    }
  }
  fly(b, backward(0, 0, 0), d0);
  fly(b, of_wave(forward(0, 0, 0), 0, 1), d0);
  return b;
}

/// "lane: lost units / withdrawn units, next attempt"
std::vector<std::string> lines_of(const losses& all) {
  std::vector<std::string> lines;
  for (const auto& loss : all) {
    lines.push_back(std::to_string(loss.first.replica.value) + "." + std::to_string(loss.first.wave.value) + ": " +
                    std::to_string(loss.lost.size()) + "/" + std::to_string(loss.withdraw.size()) + ", " +
                    std::to_string(loss.next_attempt));
  }
  return lines;
}

}  // namespace

TEST_CASE("the next wave may leave the device of the wave before when that has completed", "[schedule-tracker]") {
  auto b = in_waves();
  fly(b, backward(0, 0, 1), d0);
  REQUIRE(b.announce(ready(of_wave(backward(0, 0, 1), 1), d0), at(1)));
  b.replace_policy(std::make_unique<scripted>([](const device_state& d, const auto&...) {
    return d.device == d2 ? std::optional<std::size_t>{0} : std::nullopt;
  }));
  CHECK(b.decide(at(1)).empty());
  CHECK(b.unit_completed(backward(0, 0, 1), at(2)));
  const auto placed = b.decide(at(2));
  CHECK(placed == std::vector<placement>{{of_wave(backward(0, 0, 1), 1), d2}});
  CHECK(placed.front().available == at(2));
}

TEST_CASE("a failed unit undoes what follows it in later waves, and makes announcements of these waves void",
          "[schedule-tracker]") {
  auto b = waves_in_flight();
  REQUIRE(b.announce(ready(of_wave(backward(0, 0, 1), 2)), at(1)));
  const auto lost = b.unit_failed(backward(0, 0, 1));
  CHECK(lines_of(lost) == std::vector<std::string>{"0.0: 2/1, 1", "0.1: 1/1, 1", "0.2: 0/0, 1"});
  CHECK(units_of(lost.at(1).lost) == std::vector{of_wave(backward(0, 0, 1), 1)});
  const auto& first = lost.at(2).first;
  CHECK((first.way == direction::backward && first.shard.value == 1 && first.first_micro_batch.value == 2));
  CHECK(b.ready_count() == 0);
  CHECK(b.flight_count() == 4);              // all forward
  CHECK(b.unit_completed(of_wave(forward(0, 0, 0), 1), at(2)));
}

TEST_CASE("a failed unit of a later wave leaves the waves before alone", "[schedule-tracker]") {
  auto b = waves_in_flight();
  CHECK(lines_of(b.unit_failed(of_wave(backward(0, 0, 1), 1))) ==
        std::vector<std::string>{"0.1: 1/0, 1", "0.2: 0/0, 1"});
}

TEST_CASE("later waves of a lost unit that only passes its own sum on keep what came before that visit",
          "[schedule-tracker]") {
  auto b = waves_in_flight();
  CHECK(lines_of(b.unit_failed(backward(0, 0, 0))) ==
        std::vector<std::string>{"0.0: 1/0, 1", "0.1: 0/0, 1", "0.2: 0/0, 1"});
  CHECK(b.unit_completed(of_wave(backward(0, 0, 1), 1), at(2)));
}

TEST_CASE("a lost evaluation has no followers in other waves", "[schedule-tracker]") {
  auto b = in_waves();
  fly(b, evaluate(0, 0, 0), d0);
  fly(b, of_wave(evaluate(0, 0, 0), 1), d1);
  CHECK(lines_of(b.unit_failed(evaluate(0, 0, 0))) == std::vector<std::string>{"0.0: 1/0, 1"});
  CHECK(lines_of(b.device_lost(d1)) == std::vector<std::string>{"0.1: 1/0, 1"});
}

TEST_CASE("a lost device hits later waves once each, by their own flights there or by those of waves before",
          "[schedule-tracker]") {
  auto b = waves_in_flight();
  fly(b, of_wave(backward(0, 0, 1), 2), d0);
  const auto lost = b.device_lost(d0);
  CHECK(lines_of(lost) == std::vector<std::string>{"0.0: 3/0, 1", "0.1: 1/1, 1", "0.2: 1/0, 1", "1.0: 1/0, 1",
                                                   "1.1: 0/0, 1", "1.2: 0/0, 1"});
  CHECK(b.flight_count() == 2);  // F_0 of waves 1 and 2
  CHECK(lines_of(b.device_lost(d2)) == std::vector<std::string>{"0.2: 1/0, 2"});
  CHECK(b.flight_count() == 1);
}

// -- losses ----------------------------------------------------------------------------------------------------------

TEST_CASE("a lost device undoes flights of every model on it, in the order of ids", "[schedule-tracker]") {
  auto b = open(2, 4, first);
  REQUIRE(b.decide(at(0)).size() == 2);
  b.device_freed(d1, 1, forward(1, 0, 0), at(1));
  REQUIRE(b.decide(at(1)) == std::vector<placement>{{forward(2, 0, 0), d1}});
  const auto lost = b.device_lost(d1);
  REQUIRE(lost.size() == 2);
  CHECK((lost[0].model == model_id{1} && lost[1].model == model_id{2}));
  CHECK(lost[0].next_attempt == 1);
  CHECK(b.flight_count() == 1);
}

TEST_CASE("a lost device loses its cache", "[schedule-tracker]") {
  bool hit = true;
  auto b = open(1, 1, notes_hit(hit));
  b.blocks_cached(d0, std::vector{parameters(forward(0, 0, 0))}, {});
  b.device_lost(d0);
  b.add_device(d0, 1.0);
  b.device_freed(d0, 1, std::nullopt, at(0));
  b.decide(at(0));
  CHECK_FALSE(hit);
}

TEST_CASE("the locations of a model's parameters are forgotten when it leaves", "[schedule-tracker]") {
  bool hit = true;
  auto b = open(1, 1, notes_hit(hit));
  b.blocks_cached(d0, std::vector{parameters(forward(0, 0, 0))}, {});
  b.decide(at(0));
  REQUIRE(hit);
  b.remove_model(model_id{0});
  b.add_model(model_id{0}, of_shape({.shards = 3}));
  REQUIRE(b.announce(ready(forward(0, 0, 0)), at(0)));
  b.decide(at(0));
  CHECK_FALSE(hit);
}

TEST_CASE("reports of a device's cache before it joins or after it is lost are ignored", "[schedule-tracker]") {
  bool hit = false;
  auto b = open(0, 1, notes_hit(hit));
  b.blocks_cached(d0, std::vector{parameters(forward(0, 0, 0))}, {});
  b.add_device(d0, 1.0);
  b.device_freed(d0, 1, std::nullopt, at(0));
  b.decide(at(0));
  CHECK_FALSE(hit);
}

TEST_CASE("a failed unit is announced again with the next attempt and placed", "[schedule-tracker]") {
  auto b = open(2, 1, first);
  REQUIRE(b.decide(at(0)).size() == 1);
  REQUIRE(b.unit_failed(forward(0, 0, 0)).size() == 1);
  CHECK(b.unit_failed(forward(0, 0, 0)).empty());
  CHECK_FALSE(b.announce(ready(forward(0, 0, 0)), at(1)));
  CHECK(b.announce(ready(forward(0, 0, 0, 1)), at(1)));
  CHECK(b.decide(at(1)) == std::vector<placement>{{forward(0, 0, 0, 1), d1}});
}

TEST_CASE("a failure takes the announced successor back", "[schedule-tracker]") {
  auto b = open(1, 1, first);
  REQUIRE(b.decide(at(0)).size() == 1);
  REQUIRE(b.announce(ready(forward(0, 0, 1), d0), at(0)));
  REQUIRE(b.unit_failed(forward(0, 0, 0)).size() == 1);
  CHECK(b.ready_count() == 0);
  b.device_freed(d0, 1, std::nullopt, at(1));
  CHECK(b.decide(at(1)).empty());
}

// -- models come and go ----------------------------------------------------------------------------------------------

TEST_CASE("a model that has left is not a candidate, and is removed when its last flight has completed",
          "[schedule-tracker]") {
  auto b = open(1, 1, first);
  REQUIRE(b.decide(at(0)).size() == 1);
  b.announce(ready(forward(0, 0, 1)), at(0));
  b.remove_model(model_id{0});
  CHECK(b.ready_count() == 0);
  CHECK(b.flight_count() == 1);
  CHECK(b.unit_completed(forward(0, 0, 0), at(1)));
  CHECK(b.flight_count() == 0);
  CHECK_FALSE(b.announce(ready(forward(0, 0, 1)), at(2)));
  b.add_model(model_id{0}, of_shape({.shards = 3}));
  CHECK(b.announce(ready(forward(0, 0, 0)), at(2)));
}

TEST_CASE("a model that has left is not in the view, even if it has flights", "[schedule-tracker]") {
  std::vector<std::uint32_t> seen;
  auto b = open(1, 3, [&](const auto&, const auto&, const policy_view& v) {
    seen.clear();
    for (const auto& m : v.models) {
      seen.push_back(m.model.value);
    }
    return std::optional<std::size_t>{0};
  });
  REQUIRE(b.decide(at(0)).front().next == forward(0, 0, 0));
  b.remove_model(model_id{0});
  b.device_freed(d0, 1, forward(0, 0, 0), at(1));
  b.decide(at(1));
  CHECK(seen == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("the policy is notified once of each model and device that leaves", "[schedule-tracker]") {
  struct listener final : policy {
    std::vector<std::uint32_t>& left;
    explicit listener(std::vector<std::uint32_t>& l) : left(l) {}
    std::string name() const override { return "listener"; }
    std::optional<std::size_t> choose(const device_state&, std::span<const candidate>, const policy_view&) override {
      return 0;
    }
    void model_left(model_id m) override { left.push_back(m.value); }
    void device_left(device_id d) override { left.push_back(100 + d.value); }
  };
  std::vector<std::uint32_t> left;
  auto b = open(1, 2, std::make_unique<listener>(left));
  b.decide(at(0));  // model 0 has a flight, so that it stays in the tracker
  b.remove_model(model_id{0});
  b.remove_model(model_id{0});
  b.device_lost(d0);
  b.device_lost(d0);
  CHECK(left == std::vector<std::uint32_t>{0, 100});
}

TEST_CASE("events of unknown models and devices change nothing", "[schedule-tracker]") {
  auto b = open(1, 1, nothing);
  CHECK_FALSE(b.announce(ready(forward(7, 0, 0)), at(0)));
  CHECK_FALSE(b.unit_completed(forward(7, 0, 0), at(0)));
  CHECK(b.unit_failed(forward(7, 0, 0)).empty());
  CHECK(b.device_lost(d2).empty());
  b.blocks_cached(d2, std::vector{parameters(forward(0, 0, 0))}, {});
  b.remove_model(model_id{7});
  CHECK(b.flights_of(model_id{7}).empty());
  CHECK((b.ready_count() == 1 && b.flight_count() == 0 && b.device_count() == 1));
}

// -- a policy that refuses -------------------------------------------------------------------------------------------

TEST_CASE("a tracker is starved when a policy leaves ready units and credit unused while nothing is in flight",
          "[schedule-tracker]") {
  auto b = open(1, 2, nothing);
  CHECK(b.decide(at(0)).empty());
  CHECK(b.starved());
  b.replace_policy(std::make_unique<sharded_lrtf>());
  CHECK(b.chosen().name() == "sharded-lrtf");
  CHECK(b.decide(at(0)).size() == 1);
  CHECK_FALSE(b.starved());
}

TEST_CASE("a tracker is not starved while anything is in flight", "[schedule-tracker]") {
  int asked = 0;
  auto b = open(2, 2, [&](const auto&...) { return asked++ == 0 ? std::optional<std::size_t>{0} : std::nullopt; });
  REQUIRE(b.decide(at(0)).size() == 1);
  CHECK_FALSE(b.starved());
  b.unit_completed(forward(0, 0, 0), at(1));
  CHECK(b.starved());
}

TEST_CASE("a policy is asked for a device only while fewer units are staged there than its depth", "[schedule-tracker]") {
  for (const std::uint32_t depth : {1, 2, 8}) {
    auto b = open(1, 5, std::make_unique<scripted>(first, depth));
    for (int more = 0; more < 3; ++more) {
      b.device_freed(d0, 1, std::nullopt, at(0));
    }
    CHECK(b.decide(at(0)).size() == std::min(depth, 4U));
    b.device_freed(d0, 1, forward(0, 0, 0), at(1));
    CHECK(b.decide(at(1)).size() == 1);
  }
}

TEST_CASE("a unit that has failed on a device leaves the others staged there, one that computes none before it",
          "[schedule-tracker]") {
  duration staged{};
  auto b = open(1, 5, std::make_unique<scripted>([&](const device_state& d, auto, auto) {
    staged = d.staged;
    return d.staged < std::chrono::microseconds{30} ? std::optional<std::size_t>{0} : std::nullopt;
  }));
  b.device_freed(d0, 2, std::nullopt, at(0));
  REQUIRE(b.decide(at(0)).size() == 3);
  b.device_freed(d0, 1, forward(0, 0, 0), at(1));
  REQUIRE(b.decide(at(1)).size() == 1);
  b.device_freed(d0, 1, forward(0, 0, 0), at(2));  // the unit of model 3 has failed
  b.unit_failed(forward(3, 0, 0));
  REQUIRE(b.announce(ready(forward(3, 0, 0, 1)), at(2)));
  b.decide(at(2));
  CHECK(staged == std::chrono::microseconds{20});
  b.device_freed(d0, 2, forward(2, 0, 0), at(3));
  REQUIRE(b.decide(at(3)).size() == 1);
  CHECK(staged == std::chrono::microseconds{10});
}

TEST_CASE("a tracker without credit or without ready units is not starved", "[schedule-tracker]") {
  CHECK_FALSE(open(0, 1, nothing).starved());
  CHECK_FALSE(open(1, 0, nothing).starved());
}

// -- devices to avoid, loads -----------------------------------------------------------------------------------------

namespace {

unit_ready avoiding(device_id device, std::optional<device_id> after = std::nullopt, std::uint32_t attempt = 1) {
  auto u = ready(forward(0, 0, 0, attempt), after);
  u.avoid = {device};
  return u;
}

}  // namespace

TEST_CASE("a unit avoids the device on which it has thrown", "[schedule-tracker]") {
  auto b = open(2, 0, first);
  b.add_model(model_id{0}, of_shape({.shards = 3}));
  REQUIRE(b.announce(avoiding(d0), at(0)));
  CHECK(b.decide(at(0)) == std::vector<placement>{{forward(0, 0, 0, 1), d1}});
}

TEST_CASE("a unit waits for another device rather than to go where it has thrown", "[schedule-tracker]") {
  schedule_tracker b{std::make_unique<sharded_lrtf>()};
  b.add_device(d0, 1.0);
  b.add_device(d1, 1.0);
  b.add_model(model_id{0}, of_shape({.shards = 3}));
  b.device_freed(d0, 1, std::nullopt, at(0));
  REQUIRE(b.announce(avoiding(d0), at(0)));
  CHECK(b.decide(at(0)).empty());
  CHECK_FALSE(b.starved());  // d1 has no credit yet: it is not the policy's fault
  b.device_freed(d1, 1, std::nullopt, at(1));
  CHECK(b.starved());
  CHECK(b.decide(at(1)) == std::vector<placement>{{forward(0, 0, 0, 1), d1}});
}

TEST_CASE("the only device is not avoided, from the start or when the others are lost", "[schedule-tracker]") {
  auto alone = open(1, 0, first);
  alone.add_model(model_id{0}, of_shape({.shards = 3}));
  REQUIRE(alone.announce(avoiding(d0), at(0)));
  CHECK(alone.decide(at(0)).size() == 1);

  schedule_tracker b{std::make_unique<sharded_lrtf>()};
  b.add_device(d0, 1.0);
  b.add_device(d1, 1.0);
  b.add_model(model_id{0}, of_shape({.shards = 3}));
  b.device_freed(d0, 1, std::nullopt, at(0));
  REQUIRE(b.announce(avoiding(d0), at(0)));
  CHECK(b.decide(at(0)).empty());
  b.device_lost(d1);
  CHECK(b.decide(at(1)) == std::vector<placement>{{forward(0, 0, 0, 1), d0}});
}

TEST_CASE("a unit avoids every device on which it has thrown while another one is left, else the last of them",
          "[schedule-tracker]") {
  for (std::uint32_t devices = 2; devices <= 3; ++devices) {
    auto b = open(devices, 0, first);
    b.add_model(model_id{0}, of_shape({.shards = 3}));
    auto u = avoiding(d0, std::nullopt, 2);
    u.avoid.push_back(d1);
    REQUIRE(b.announce(u, at(0)));
    CHECK(b.decide(at(0)) == std::vector<placement>{{u.what, devices == 3 ? device_id{2} : d0}});
  }
}

TEST_CASE("a unit that may only follow its predecessor to a device that it avoids waits until that has completed",
          "[schedule-tracker]") {
  auto b = open(2, 0, first);
  b.add_model(model_id{0}, of_shape({.shards = 3}));
  b.announce(ready(forward(0, 0, 0)), at(0));
  REQUIRE(b.decide(at(0)).front().device == d0);
  b.device_freed(d0, 1, std::nullopt, at(0));
  auto next = ready(forward(0, 0, 1), d0);
  next.avoid = {d0};
  REQUIRE(b.announce(next, at(1)));
  CHECK(b.decide(at(1)).empty());
  b.unit_completed(forward(0, 0, 0), at(2));
  CHECK(b.decide(at(2)) == std::vector<placement>{{forward(0, 0, 1), d1}});
}

TEST_CASE("a model that is bound to its device leaves it when a unit has thrown there", "[schedule-tracker]") {
  schedule_tracker b{std::make_unique<whole_model>()};
  b.add_device(d0, 1.0);
  b.add_device(d1, 1.0);
  b.add_model(model_id{0}, of_shape({.shards = 3}));
  b.device_freed(d0, 1, std::nullopt, at(0));
  b.announce(ready(forward(0, 0, 0)), at(0));
  REQUIRE(b.decide(at(0)).size() == 1);
  REQUIRE(b.unit_failed(forward(0, 0, 0)).size() == 1);
  b.device_freed(d0, 1, std::nullopt, at(1));
  b.device_freed(d1, 1, std::nullopt, at(1));
  REQUIRE(b.announce(avoiding(d0), at(1)));
  CHECK(b.decide(at(1)) == std::vector<placement>{{forward(0, 0, 0, 1), d1}});
}

TEST_CASE("loads show what devices hold, since when, and how long it should take there", "[schedule-tracker]") {
  schedule_tracker b{std::make_unique<scripted>(first)};
  b.add_device(d0, 0.5, byte_rate{1e8});  // 100 bytes take 1 us each way
  b.device_freed(d0, 1, std::nullopt, at(0));
  b.device_freed(d0, 1, std::nullopt, at(0));
  CHECK(b.loads().empty());
  for (std::uint32_t m = 0; m < 2; ++m) {
    b.add_model(model_id{m}, of_shape({.shards = 3}));
    b.announce(ready(forward(m, 0, 0)), at(0));
    REQUIRE(b.decide(at(3 + static_cast<int>(m))).size() == 1);
  }
  auto loads = b.loads();
  REQUIRE(loads.size() == 1);
  CHECK((loads[0].device == d0 && !loads[0].computes && loads[0].since == at(3)));
  CHECK(loads[0].longest == std::chrono::microseconds(22));
  b.device_freed(d0, 0, forward(0, 0, 0), at(5));
  CHECK(b.loads()[0].computes);
  b.device_lost(d0);
  CHECK(b.loads().empty());
}

TEST_CASE("the view says where the next unit of each lane is in its step") {
  schedule_tracker b{std::make_unique<scripted>(first)};
  b.add_device(d0, 1.0);
  b.add_model(model_id{0}, of_shape({.shards = 2, .micro_batches = 2, .replicas = 2}));
  const auto& lane = b.view(at(0)).models.front();
  CHECK(lane.shape.shards == 2);
  CHECK(lane.step == std::nullopt);
  b.announce(ready(evaluate(0, 3, 1)), at(0));
  CHECK((lane.step == step_index{3} && lane.place == 0));
  const auto place_next = [&](const unit& u) {
    b.device_freed(d0, 1, std::nullopt, at(0));
    b.decide(at(0));
    b.announce(ready(u, d0), at(0));
  };
  place_next(forward(0, 3, 0));
  CHECK((lane.step == step_index{3} && lane.place == 0));
  place_next(backward(0, 3, 1));
  CHECK((lane.step == step_index{3} && lane.place == 1));
  place_next(backward(0, 3, 0));
  CHECK((lane.step == step_index{3} && lane.place == 2));
  b.device_freed(d0, 1, std::nullopt, at(0));
  b.decide(at(0));
  CHECK((lane.step == step_index{4} && lane.place == 0));
  CHECK(b.view(at(0)).models.back().step == std::nullopt);
}

TEST_CASE("after a failure the view is back at the first unit that was undone") {
  auto b = open(1, 1, first);
  b.decide(at(0));
  b.unit_completed(forward(0, 0, 0), at(1));
  b.announce(ready(backward(0, 0, 0)), at(1));
  b.device_freed(d0, 1, std::nullopt, at(1));
  b.decide(at(1));
  const auto& lane = b.view(at(1)).models.front();
  CHECK((lane.step == step_index{1} && lane.place == 0));
  b.unit_failed(backward(0, 0, 0));
  CHECK((lane.step == step_index{0} && lane.place == 4));
}

TEST_CASE("a device may be kept for the next step of a model, unless other nodes train that with this one") {
  for (const bool shares : {false, true}) {
    auto b = open(1, 0, first);
    auto traits = of_shape({.shards = 2});
    traits.shares_steps = shares;
    b.add_model(model_id{0}, traits);
    const auto& lane = b.view(at(0)).models.front();
    b.announce(ready(backward(0, 0, 1)), at(0));
    REQUIRE(b.decide(at(0)).size() == 1);
    CHECK_FALSE(lane.at_step_boundary);
    b.device_freed(d0, 1, std::nullopt, at(0));
    b.announce(ready(backward(0, 0, 0)), at(0));
    REQUIRE(b.decide(at(0)).size() == 1);
    CHECK(lane.at_step_boundary == !shares);
  }
}

TEST_CASE("the last unit of a model is followed by no step") {
  auto b = open(1, 0, first);
  b.add_model(model_id{0}, of_shape({.shards = 1}));
  auto last = ready(backward(0, 0, 0));
  last.then_remaining = {};
  b.announce(last, at(0));
  REQUIRE(b.decide(at(0)).size() == 1);
  CHECK_FALSE(b.view(at(0)).models.front().at_step_boundary);
}

TEST_CASE("a device holds a unit that was undone elsewhere until it has answered") {
  auto b = waves_in_flight();
  REQUIRE(lines_of(b.unit_failed(backward(0, 0, 1))).at(1) == "0.1: 1/1, 1");  // B_1 of wave 1 on device 1
  b.remove_model(model_id{0});
  for (const auto& f : b.flights_of(model_id{0})) {
    CHECK(b.unit_completed(f.what, at(1)));
  }
  CHECK(b.flight_count() == 0);
  CHECK(b.is_held(model_id{0}));
  CHECK_FALSE(b.unit_completed(backward(0, 0, 0), at(2)));  // it had computed already
  CHECK(b.is_held(model_id{0}));
  CHECK(b.unit_failed(of_wave(backward(0, 0, 1), 1)).empty());
  CHECK_FALSE(b.is_held(model_id{0}));
}

TEST_CASE("a piece goes to the free device that has it, or to another one if that has no slot") {
  const std::uint32_t slots = GENERATE(0u, 1u);
  schedule_tracker b{std::make_unique<stay_pace>()};
  b.add_device(d0, 1.0);
  b.add_device(d1, 1.0);
  b.device_freed(d0, 1, std::nullopt, at(0));
  b.device_freed(d1, slots, std::nullopt, at(0));
  b.add_model(model_id{0}, {.shape = {.shards = 4, .abreast = 2},
                            .graphs = graphs_of_shape({.shards = 4}, byte_count{100}, {{.first = 0, .count = 2}})});
  auto other = forward(0, 0, 1);
  other.piece = piece_index{1};
  b.blocks_cached(d1, std::array{parameters(forward(0, 0, 0)), parameters(other)}, {});
  REQUIRE(b.announce(ready(forward(0, 0, 0)), at(0)));
  REQUIRE(b.announce(ready(other), at(0)));
  const auto placed = b.decide(at(0));
  REQUIRE(placed.size() == 1 + slots);
  CHECK(placed.front().device == (slots > 0 ? d1 : d0));
}

TEST_CASE("a lost device holds nothing any more") {
  auto b = waves_in_flight();
  b.unit_failed(backward(0, 0, 1));
  b.remove_model(model_id{0});
  b.device_lost(d0);
  b.device_lost(d2);
  CHECK(b.is_held(model_id{0}));
  b.device_lost(d1);
  CHECK_FALSE(b.is_held(model_id{0}));
}
