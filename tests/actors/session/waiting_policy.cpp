#include "actors/session/waiting_policy.hpp"

#include "actors/policy/sharded_lrtf.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/generator.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/policy_actors.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace waiting_policy_test {

std::shared_ptr<const policy_actor_source> source_of(advice says) {
  return std::make_shared<const policy_actor_source>(scripted_source(std::move(says)));
}

schedule_instance some_instance() { return generate({.models = 3, .speeds = {1, 1}, .rho = 0.5, .length = 0.05}); }

TEST_CASE("a policy actor in a simulation decides as the same policy does as an object") {
  const auto i = some_instance();
  const auto asked = run_in_loop(i, make_waiting_policy(source_of(longest_remaining)));
  const auto called = run_in_loop(i, std::make_unique<sharded_lrtf>());
  CHECK(asked.makespan == called.makespan);
  CHECK(asked.decisions == called.decisions);
  CHECK(asked.replacements.empty());
}

TEST_CASE("a policy actor that does not answer a simulation in time is replaced, as one that names no candidate") {
  const auto i = some_instance();
  const auto replaced = [&](advice says) {
    const auto run = run_in_loop(i, make_waiting_policy(source_of(std::move(says)), 50ms));
    REQUIRE(run.replacements.size() == 1);
    return run.replacements.front();
  };
  CHECK_THAT(replaced([](const auto&) { return std::nullopt; }), Contains("its actor has not answered for 50.0 ms"));
  const auto another = [](const advice_wanted& m) {
    auto wrong = m.candidates.front().next;
    wrong.step.value += 1000;
    return std::optional(policy_advised{m.request, m.device.device, wrong});
  };
  CHECK_THAT(replaced(another), Contains("which is not a candidate"));
}

TEST_CASE("a policy actor may answer nothing while others are under way in a simulation") {
  std::size_t refused = 0;
  const auto says = [&refused](const advice_wanted& m) {
    if (m.candidates.size() == 1 && ++refused < 5) {
      return std::optional(policy_advised{m.request, m.device.device, {}});
    }
    return longest_remaining(m);
  };
  CHECK(run_in_loop(some_instance(), make_waiting_policy(source_of(says))).replacements.empty());
  CHECK(refused > 0);
}

}  // namespace waiting_policy_test
