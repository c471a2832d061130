#include "runtime/base/unit.hpp"

#include <catch2/catch.hpp>

#include <unordered_set>

using namespace hydra;

namespace {

unit example() {
  unit u;
  u.model = model_id{3};
  u.step = step_index{7};
  u.way = direction::backward;
  u.shard = shard_index{2};
  return u;
}

/// Copies of the example; each differs in one member, every member has one.
std::vector<unit> variations() {
  std::vector<unit> all(9, example());
  all[0].model = model_id{4};
  all[1].replica = replica_id{1};
  all[2].step = step_index{8};
  all[3].way = direction::forward;
  all[4].shard = shard_index{3};
  all[5].first_micro_batch = micro_batch_index{1};
  all[6].micro_batches = 2;
  all[7].attempt = 1;
  all[8].wave = wave_index{1};
  return all;
}

}  // namespace

TEST_CASE("a unit is printed as its model, step, direction and shard") {
  REQUIRE(to_string(example()) == "model 3 step 7 backward 2");
}

TEST_CASE("attempt, replica, wave and first micro-batch of a unit are printed unless they have their default") {
  unit u = example();
  u.attempt = 1;
  REQUIRE(to_string(u) == "model 3 step 7 backward 2 attempt 1");
  u.replica = replica_id{5};
  u.wave = wave_index{2};
  u.first_micro_batch = micro_batch_index{6};
  REQUIRE(to_string(u) == "model 3 replica 5 wave 2 step 7 backward 2 from micro-batch 6 attempt 1");
}

TEST_CASE("another attempt is the same visit, anything else is another") {
  for (const unit& other : variations()) {
    const bool only_attempt = other.attempt != example().attempt;
    REQUIRE(same_visit(example(), other) == only_attempt);
    REQUIRE(same_visit(other, example()) == only_attempt);
    REQUIRE(example() != other);
  }
}

TEST_CASE("every member of a unit counts in its hash") {
  for (const unit& other : variations()) REQUIRE(std::hash<unit>{}(other) != std::hash<unit>{}(example()));
  REQUIRE(std::hash<unit>{}(example()) == std::hash<unit>{}(example()));
}
