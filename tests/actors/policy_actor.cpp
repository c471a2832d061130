// Policies that are actors: their runs in virtual time, and what becomes of those that fail.

#include "actors/policy_actor.hpp"

#include "actors/policy/advised_policy.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/session.hpp"
#include "models/mlp.hpp"
#include "tests/support/advisers.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

const std::vector<simulated_model> models{even_model("a", 3, 4, 20us, 10us), even_model("b", 2, 6, 30us, 10us),
                                          even_model("c", 4, 2, 10us, 5us)};

/// Three models on two devices under what an actor says.
simulation_setup advised_run(advice says, duration limit = 1ms) {
  auto setup = even_run(models, 2);
  auto asks = std::make_unique<advised_policy>("actor");
  setup.adviser = {.source = std::make_shared<policy_actor_source>(adviser_source(std::move(says))),
                   .asks = asks.get(),
                   .limit = limit};
  setup.chosen = std::move(asks);
  return setup;
}

void require_complete(simulation& s) {
  CHECK(unfinished(s, models) == "");
  CHECK(out_of_order(s, models) == "");
  CHECK(s.record()->leftovers == "");
}

unit foreign_unit() {
  unit u;
  u.attempt = 99;
  return u;
}

/// The reason of the one replacement.
std::string replaced(advice says) {
  const auto s = finished(advised_run(std::move(says)));
  require_complete(*s);
  CHECK(s->record()->policy == "sharded-lrtf");
  REQUIRE(s->record()->replacements.size() == 1);
  return s->record()->replacements.front();
}

}  // namespace

TEST_CASE("a run under a policy actor is complete, and as good as under the policy that it asks itself", "[policy-actor]") {
  const auto s = finished(advised_run(longest_remaining));
  require_complete(*s);
  CHECK(s->record()->policy == "actor");
  CHECK(s->record()->replacements.empty());
  CHECK(s->record()->dropped_advice <= 4);  // two devices that fall idle at once are advised the same
  CHECK(makespan(*s) <= makespan(*finished(even_run(models, 2))) * 11 / 10);
}

TEST_CASE("a policy actor that never answers is replaced after its limit", "[policy-actor]") {
  CHECK_THAT(replaced([](const advice_wanted&) { return std::nullopt; }),
             Contains("policy actor was replaced by sharded-lrtf: it has not answered for 1.0 ms"));
}

TEST_CASE("a policy actor that says nothing for ever is replaced by the watchdog", "[policy-actor]") {
  CHECK_THAT(replaced([](const advice_wanted& m) { return policy_advised{m.request, m.device.device, {}}; }),
             Contains("stays silent"));
}

TEST_CASE("advice that is no candidate is dropped and counted", "[policy-actor]") {
  int questions = 0;
  const auto s = finished(advised_run([&](const advice_wanted& m) {
    auto answer = longest_remaining(m);
    if (++questions % 3 == 0) {
      answer->choice->attempt = 99;
    }
    return answer;
  }));
  require_complete(*s);
  CHECK(s->record()->policy == "actor");
  CHECK(s->record()->dropped_advice > 3);
}

TEST_CASE("a policy actor that always answers nonsense is replaced", "[policy-actor]") {
  CHECK_THAT(replaced([](const advice_wanted& m) { return policy_advised{m.request, m.device.device, foreign_unit()}; }),
             Contains("it fails: its last 100 answers"));
}

TEST_CASE("a policy actor may die at any question", "[policy-actor]") {
  for (int last = 1; last < 20; ++last) {
    INFO(last);
    int questions = 0;
    const auto why = replaced([&, last](const advice_wanted& m) {
      if (++questions == last) {
        throw std::runtime_error("out of ideas");
      }
      return longest_remaining(m);
    });
    CHECK_THAT(why, Contains("its actor has died"));
  }
}

TEST_CASE("a session trains under a policy actor, and one that cannot be started is refused", "[policy-actor]") {
  const auto trained = [](policy_actor_source source) {
    session s{{.log = verbosity::quiet}};
    s.add_devices(2, cpu_device{.memory = 1_MiB});
    s.use_policy(std::move(source));
    for (const std::string name : {"a", "b"}) {
      s.add_model({.name = name,
                   .chain = mlp({.layers = 2, .width = 8}),
                   .data = {synthetic_classes{}},
                   .batch_size = 8,
                   .steps = 4,
                   .optimizer = sgd({.learning_rate = 0.1})});
    }
    return s.run();
  };
  const auto r = trained(adviser_source(longest_remaining));
  CHECK(r.all_finished());
  CHECK(r.policy == "actor");
  CHECK(r.replaced == 0);
  const auto nobody = [](caf::actor_system&) { return policy_actor{}; };
  CHECK_THROWS_WITH(trained({.name = "nobody", .start = nobody}), Contains("nobody: there is no actor to ask"));
}
