#include "actors/policy/fifo.hpp"
#include "actors/policy/one_at_a_time.hpp"
#include "actors/policy/random_choice.hpp"
#include "actors/policy/round_robin.hpp"
#include "actors/policy/sharded_lrtf.hpp"
#include "actors/policy/whole_model.hpp"
#include "tests/actors/policy/units.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace policies_test {

candidate waiting(std::uint32_t model, int remaining_us, int announced_us = 0, bool chained = false) {
  candidate c;
  c.next = forward(model, 0, 0);
  c.remaining = std::chrono::microseconds{remaining_us};
  c.announced = at(announced_us);
  c.chained = chained;
  return c;
}

device_state device(std::uint32_t id) {
  device_state d;
  d.device = device_id{id};
  return d;
}

/// The model chosen, or nothing.
std::optional<std::uint32_t> chosen(policy& p, const std::vector<candidate>& candidates,
                                    const device_state& d = device(0), const std::vector<model_state>& models = {}) {
  const auto i = p.choose(d, candidates, {.now = at(0), .devices = {}, .models = models});
  return i ? std::optional{candidates[*i].next.model.value} : std::nullopt;
}

// -- sharded-lrtf ----------------------------------------------------------------------------------------------------

TEST_CASE("sharded-lrtf takes the model with the longest remaining time", "[policy]") {
  sharded_lrtf p;
  CHECK(chosen(p, {waiting(0, 5), waiting(1, 9), waiting(2, 7)}) == 1);
}

TEST_CASE("sharded-lrtf takes the lower id of equals", "[policy]") {
  sharded_lrtf p;
  CHECK(chosen(p, {waiting(0, 5), waiting(1, 9), waiting(2, 9)}) == 1);
}

TEST_CASE("sharded-lrtf prefers of equals the model that was staged last on the device", "[policy]") {
  sharded_lrtf p;
  auto d = device(0);
  d.last = model_id{2};
  CHECK(chosen(p, {waiting(1, 9), waiting(2, 9), waiting(3, 9)}, d) == 2);
  d.running = model_id{3};
  CHECK(chosen(p, {waiting(1, 9), waiting(2, 9), waiting(3, 9)}, d) == 2);
}

TEST_CASE("sharded-lrtf does not prefer the device's model to a longer one", "[policy]") {
  sharded_lrtf p;
  auto d = device(0);
  d.running = d.last = model_id{1};
  CHECK(chosen(p, {waiting(0, 9), waiting(1, 8)}, d) == 0);
}

// -- fifo ------------------------------------------------------------------------------------------------------------

TEST_CASE("fifo takes the unit that was announced first", "[policy]") {
  fifo p;
  CHECK(chosen(p, {waiting(0, 1, 30), waiting(1, 1, 10), waiting(2, 1, 20)}) == 1);
}

TEST_CASE("fifo takes the lower id of units announced at the same time", "[policy]") {
  fifo p;
  CHECK(chosen(p, {waiting(0, 1, 30), waiting(1, 1, 10), waiting(2, 1, 10)}) == 1);
}

TEST_CASE("fifo takes a unit whose predecessor still computes only when there is no other", "[policy]") {
  fifo p;
  CHECK(chosen(p, {waiting(0, 1, 10, true), waiting(1, 1, 30)}) == 1);
  CHECK(chosen(p, {waiting(0, 1, 10, true)}) == 0);
}

// -- round-robin -----------------------------------------------------------------------------------------------------

TEST_CASE("round-robin starts with the lowest id and goes round, whichever device asks", "[policy]") {
  round_robin p;
  const std::vector all{waiting(0, 1), waiting(1, 1), waiting(2, 1)};
  CHECK(chosen(p, all, device(0)) == 0);
  CHECK(chosen(p, all, device(1)) == 1);
  CHECK(chosen(p, all, device(0)) == 2);
  CHECK(chosen(p, all, device(1)) == 0);
}

TEST_CASE("round-robin continues after the model chosen last when models come and go", "[policy]") {
  round_robin p;
  CHECK(chosen(p, {waiting(3, 1), waiting(5, 1)}) == 3);
  CHECK(chosen(p, {waiting(0, 1), waiting(3, 1), waiting(4, 1)}) == 4);
  CHECK(chosen(p, {waiting(2, 1), waiting(4, 1)}) == 2);
}

// -- random ----------------------------------------------------------------------------------------------------------

TEST_CASE("random takes the candidate given by mt19937 of its seed", "[policy]") {
  random_choice p{7};
  std::mt19937 expected{7};
  const std::vector candidates{waiting(0, 1), waiting(1, 1), waiting(2, 1)};
  for (int i = 0; i < 20; ++i) {
    CHECK(chosen(p, candidates) == expected() % 3);
  }
}

// -- whole-model -----------------------------------------------------------------------------------------------------

TEST_CASE("whole-model binds the longest model, of equals the lower id, and stays with it", "[policy]") {
  whole_model p;
  CHECK(chosen(p, {waiting(0, 5), waiting(1, 9), waiting(2, 9)}) == 1);
  CHECK(chosen(p, {waiting(0, 50), waiting(1, 1), waiting(2, 90)}) == 1);
}

TEST_CASE("whole-model takes nothing while its model is not a candidate", "[policy]") {
  whole_model p;
  REQUIRE(chosen(p, {waiting(1, 9)}) == 1);
  CHECK(chosen(p, {waiting(0, 5), waiting(2, 5)}) == std::nullopt);
}

TEST_CASE("whole-model takes no model that is bound to another device", "[policy]") {
  whole_model p;
  REQUIRE(chosen(p, {waiting(0, 9), waiting(1, 5)}, device(0)) == 0);
  CHECK(chosen(p, {waiting(0, 9), waiting(1, 5)}, device(1)) == 1);
  CHECK(chosen(p, {waiting(0, 9), waiting(1, 5)}, device(2)) == std::nullopt);
}

TEST_CASE("whole-model frees the device of a model that has left", "[policy]") {
  whole_model p;
  REQUIRE(chosen(p, {waiting(0, 9), waiting(1, 5)}) == 0);
  p.model_left(model_id{0});
  CHECK(chosen(p, {waiting(1, 5)}) == 1);
}

TEST_CASE("whole-model frees the device of a model whose last unit has ended, though updates are to come", "[policy]") {
  whole_model p;
  std::vector<model_state> models(2);
  models[1].model = model_id{1};
  models[0].next_cost = std::chrono::microseconds{1};
  REQUIRE(chosen(p, {waiting(0, 9), waiting(1, 5)}, device(0), models) == 0);
  models[0].next_cost = {};
  models[0].running = device_id{0};
  CHECK(chosen(p, {waiting(1, 5)}, device(0), models) == std::nullopt);
  models[0].running.reset();
  CHECK(chosen(p, {waiting(1, 5)}, device(0), models) == 1);
}

TEST_CASE("whole-model gives another device, bound or not, the unit that may not run on the one of its model",
          "[policy]") {
  auto failed = waiting(0, 9);
  failed.avoided = {device_id{0}};
  for (const bool bound : {false, true}) {
    whole_model p;
    REQUIRE(chosen(p, {waiting(0, 9), waiting(1, 5)}, device(0)) == 0);  // another lane of the model
    if (bound) {
      REQUIRE(chosen(p, {waiting(1, 5)}, device(1)) == 1);
    }
    CHECK(chosen(p, {failed}, device(1)) == 0);
    CHECK(chosen(p, {failed, waiting(1, 5)}, device(1)) == 1);
    CHECK(chosen(p, {waiting(0, 9)}, device(1)) == std::nullopt);
  }
}

TEST_CASE("whole-model frees the model of a device that has left", "[policy]") {
  whole_model p;
  REQUIRE(chosen(p, {waiting(0, 9)}, device(0)) == 0);
  p.device_left(device_id{0});
  CHECK(chosen(p, {waiting(0, 9)}, device(1)) == 0);
}

// -- one at a time ---------------------------------------------------------------------------------------------------

TEST_CASE("one-at-a-time shows only the unfinished model with the lowest id", "[policy]") {
  one_at_a_time p{std::make_unique<sharded_lrtf>()};
  std::vector<model_state> models(2);
  models[0].model = model_id{3};
  models[1].model = model_id{4};
  CHECK(chosen(p, {waiting(3, 1), waiting(4, 9)}, device(0), models) == 3);
  CHECK(chosen(p, {waiting(4, 9)}, device(0), models) == std::nullopt);
  CHECK(chosen(p, {waiting(4, 9)}, device(0), {models[1]}) == 4);
}

TEST_CASE("one-at-a-time passes on what the policy inside must know", "[policy]") {
  one_at_a_time p{std::make_unique<whole_model>()};
  std::vector<model_state> models(1);
  models[0].next_cost = std::chrono::microseconds{1};
  REQUIRE(chosen(p, {waiting(0, 1)}, device(0), models) == 0);
  CHECK(chosen(p, {waiting(0, 1)}, device(1), models) == std::nullopt);
  p.device_left(device_id{0});
  CHECK(chosen(p, {waiting(0, 1)}, device(1), models) == 0);
  p.model_left(model_id{0});
  CHECK(chosen(p, {waiting(0, 1)}, device(2), models) == 0);
}

}  // namespace policies_test
