#include "actors/device/visit_list.hpp"

#include "actors/simulation/simulation.hpp"
#include "tests/support/block_names.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;

namespace {

/// Two shards, two replicas of two waves of one micro-batch.
sharded_model_ptr in_waves() {
  const simulated_shard shard{.parameters = 1024_B, .activation = 512_B, .working = 4096_B};
  return make_simulated_model(
      {.name = "waves", .shards = {shard, shard}, .micro_batches = 4, .replicas = 2, .waves = 2});
}

/// A unit of lane `lane`: F_0, B_1, B_0.
unit in_lane(const sharded_model_ptr& what, std::uint32_t lane, std::uint32_t place) {
  const step_graph order(what->plan.shape());
  return order.at(lane * order.lane_length() + place);
}

}  // namespace

TEST_CASE("a unit depends on those of its lane, and on those of earlier waves of which its gradient sum is made") {
  const auto what = in_waves();
  visit_record first(in_lane(what, 0, 1)), second(in_lane(what, 1, 1)), replica(in_lane(what, 2, 1));
  CHECK_FALSE(depends_on(second, first));  // neither has begun
  const bool later_begins = GENERATE(true, false);
  (later_begins ? second : first).begin(what, 1);
  CHECK(depends_on(second, first));
  CHECK_FALSE(depends_on(first, second));
  CHECK_FALSE(depends_on(replica, first));
  visit_record forward(in_lane(what, 1, 0)), next(in_lane(what, 0, 0));
  CHECK_FALSE(depends_on(forward, first));
  CHECK(depends_on(second, forward));
  next.what.step = step_index{1};
  CHECK(depends_on(next, first));
  CHECK_FALSE(depends_on(next, second));
}

TEST_CASE("a block that a unit will produce is not looked for on the host, also before its execute_shard has come") {
  const auto what = in_waves();
  const auto forward = in_lane(what, 0, 0);
  visit_record reader(in_lane(what, 0, 1));
  reader.begin(what, 1);
  const auto boundary = output_of(forward, what->plan.shape(), {}).value();
  visit_list list;
  list.record(in_lane(what, 1, 0));
  CHECK_FALSE(list.produces(reader, boundary));
  list.record(forward);
  CHECK(list.produces(reader, boundary));
  CHECK_FALSE(list.produces(reader, parameters_of(forward)));
  CHECK_FALSE(list.live_output(reader, boundary));  // it has not been submitted
  list.find(forward)->failure.cause = {fault_code::cancelled, "by the test"};
  CHECK_FALSE(list.produces(reader, boundary));
}
