// Policies that are actors: their runs in virtual time, and the replacement of those that fail.

#include "actors/plugin/policy_actor.hpp"

#include "actors/policy/advised_policy.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/session/session.hpp"
#include "models/families/mlp/mlp.hpp"
#include "tests/support/policy_actors.hpp"
#include "tests/support/small_run.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

const std::vector<simulated_model> models{even_model("a", 3, 4, 20us, 10us), even_model("b", 2, 6, 30us, 10us),
                                          even_model("c", 4, 2, 10us, 5us)};

/// Three models on two devices under an actor's advice.
simulation_setup advised_run(advice says, duration limit = 1ms) {
  auto setup = even_run(models, 2);
  auto asks = std::make_unique<advised_policy>("actor");
  setup.advice = {.source = std::make_shared<policy_actor_source>(scripted_source(std::move(says))),
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

TEST_CASE("a run under a policy actor is complete, and as good as under the policy that it asks itself",
          "[policy-actor]") {
  const auto s = finished(advised_run(longest_remaining));
  require_complete(*s);
  CHECK(s->record()->policy == "actor");
  CHECK(s->record()->replacements.empty());
  CHECK(s->record()->dropped_advice <= 4);  // two devices that become idle at once get the same advice
  CHECK(makespan(*s) <= makespan(*finished(even_run(models, 2))) * 11 / 10);
}

TEST_CASE("a policy actor that never answers is replaced after its limit", "[policy-actor]") {
  CHECK_THAT(replaced([](const advice_wanted&) { return std::nullopt; }),
             Contains("policy actor was replaced by sharded-lrtf: it has not answered for 1.0 ms"));
}

TEST_CASE("a policy actor that never answers is replaced by the watchdog", "[policy-actor]") {
  CHECK_THAT(replaced([](const advice_wanted& m) { return policy_advised{m.request, m.device.device, {}}; }),
             Contains("stays silent"));
}

TEST_CASE("advice that is not a candidate is dropped and counted", "[policy-actor]") {
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
  CHECK_THAT(replaced([](const advice_wanted& m) {
               return policy_advised{m.request, m.device.device, foreign_unit()};
             }),
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

namespace {

session_options quick() {
  return {.log = verbosity::quiet, .policies = {.advice = 20ms}, .stop_limit = 50ms};
}

/// Two small models on two devices under the policy that `use` chooses.
template <class Use>
report trained(const Use& use, const session_options& options = quick()) {
  session s{options};
  s.add_devices(2, cpu_device{.memory = 1_MiB});
  use(s);
  for (const std::string name : {"a", "b"}) {
    s.add_model({.name = name,
                 .chain = mlp({.layers = 2, .width = 8}),
                 .data = {synthetic_classes{}},
                 .batch_size = 8,
                 .steps = 4,
                 .optimizer = sgd({.learning_rate = 0.1})});
  }
  return s.run();
}

report trained_by(policy_actor_source source) {
  return trained([&](session& s) { s.use_policy(std::move(source)); });
}

report trained_by(std::unique_ptr<policy> p, const session_options& options = quick()) {
  return trained([&](session& s) { s.use_policy(std::move(p)); }, options);
}

/// The report's note about the policy that was replaced.
std::string note_of(const report& r) {
  CHECK(r.all_finished());
  REQUIRE(r.replaced == 1);
  const auto about = [](const std::string& n) { return n.find("was replaced by") != std::string::npos; };
  return *std::ranges::find_if(r.notes, about);
}

/// A user's policy with the name of a built-in one.
class own_policy : public policy {
 public:
  std::string name() const override { return "fifo"; }
  std::optional<std::size_t> choose(const device_state&, std::span<const candidate>, const policy_view&) override {
    return 0;
  }
};

class fails_when_a_model_leaves final : public own_policy {
 public:
  void model_left(model_id) override { throw std::runtime_error("unlucky"); }
};

class fails_at_once final : public own_policy {
 public:
  std::optional<std::size_t> choose(const device_state&, std::span<const candidate>, const policy_view&) override {
    throw std::runtime_error("no idea");
  }
};

}  // namespace

TEST_CASE("a session trains under a policy actor, and one that cannot be started is refused", "[policy-actor]") {
  auto patient = quick();
  patient.policies.advice = 10s;
  const auto r = trained([](session& s) { s.use_policy(scripted_source(longest_remaining)); }, patient);
  CHECK(r.all_finished());
  CHECK(r.policy == "actor");
  CHECK(r.replaced == 0);
  const auto nobody = [](caf::actor_system&) { return policy_actor{}; };
  CHECK_THROWS_WITH(trained_by({.name = "nobody", .start = nobody}), Contains("nobody: there is no actor to ask"));
}

TEST_CASE("policy actors that block for ever cost the run neither a thread nor its end", "[policy-actor]") {
  const auto r = trained([](session& s) { s.use_policy(test_plugin("blocking_actors").string()); });
  CHECK_THAT(note_of(r), Contains("policy blocking was replaced by sharded-lrtf: it has not answered for 20.0 ms"));
}

TEST_CASE("a policy actor that dies in a session is replaced", "[policy-actor]") {
  auto patient = quick();
  patient.policies.advice = 10s;
  const auto dies = [](const advice_wanted&) -> std::optional<policy_advised> { throw std::runtime_error("gone"); };
  const auto r = trained([&](session& s) { s.use_policy(scripted_source(dies)); }, patient);
  CHECK_THAT(note_of(r), Contains("its actor has died"));
}

TEST_CASE("a user's object that throws when it is notified of an event is replaced, and is not reported as built in",
          "[policy]") {
  std::string why;
  for (int attempt = 0; why.empty() && attempt < 20; ++attempt) {  // whether anything is to be decided after it
    const auto r = trained_by(std::make_unique<fails_when_a_model_leaves>());
    CHECK(r.all_finished());
    why = r.replaced > 0 ? note_of(r) : "";
  }
  CHECK_THAT(why, Contains("policy fifo was replaced") && Contains("a model has left throws: unlucky"));
  CHECK_THAT(why, !Contains("error of Hydra"));
}

TEST_CASE("without SHARP models stay one after the other when their policy is replaced", "[policy]") {
  auto options = quick();
  options.ablation.sharp = false;
  const auto r = trained_by(std::make_unique<fails_at_once>(), options);
  CHECK_THAT(note_of(r), Contains("no idea"));
  CHECK(r.policy == "sharded-lrtf, one model at a time");
}

TEST_CASE("a null pointer is not a policy", "[policy]") {
  session s{quick()};
  CHECK_THROWS_WITH(s.use_policy(std::unique_ptr<policy>{}), Contains("there is no object"));
}
