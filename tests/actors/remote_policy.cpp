// A policy actor in another actor system, over a socket: requests and advice arrive unchanged, and the run continues
// when the other side is gone.

#include "actors/plugin/policy_actor.hpp"
#include "actors/policy/advised_policy.hpp"
#include "actors/protocol/guarded.hpp"
#include "actors/protocol/system_config.hpp"
#include "actors/schedule/scheduler.hpp"
#include "actors/session/session.hpp"
#include "models/families/mlp/mlp.hpp"
#include "runtime/base/log.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/policy_actors.hpp"
#include "tests/support/shape_graphs.hpp"

#include <caf/io/middleman.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <future>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

void add_network(caf::actor_system_config& config) {
  config.load<caf::io::middleman>();
  add_policy_messages(config);
}

std::unique_ptr<caf::actor_system_config> networked() {
  auto config = make_system_config();
  add_network(*config);
  return config;
}

/// Sets a test's promise once.
template <class T>
struct report_to {
  std::shared_ptr<std::promise<T>> promise = std::make_shared<std::promise<T>>();

  T get() const {
    auto f = promise->get_future();
    REQUIRE(f.wait_for(patience) == std::future_status::ready);
    return f.get();
  }
};

/// A DEVICE that reports which unit it has to stage.
class asked_device final : public device_actor::base {
 public:
  asked_device(caf::actor_config& config, report_to<unit> to) : device_actor::base{config}, to_{std::move(to)} {}

  behavior_type make_behavior() override {
    return {[](const begin_run&) {},           [this](const prefetch_shard& m) { to_.promise->set_value(m.what); },
            [](const execute_shard&) {},       [](const withdraw_unit&) {},
            [](const shard_leased&) {},        [](const lease_refused&) {},
            [](const operation_completed&) {}, [](const model_released&) {},
            [](const report_state&) {},        [](const shut_down&) {}};
  }

 private:
  report_to<unit> to_;
};

/// A SCHEDULER with three models and one device, asking `actor`.
class asking_run {
 public:
  asking_run(caf::actor_system& system, policy_actor actor) : system_{system} {
    auto asks = std::make_unique<advised_policy>("remote");
    scheduler_setup setup{
        .chosen = nullptr,
        .advice = {.actor = std::move(actor), .asks = asks.get(), .limit = patience, .outlives_run = true},
        .watch = {.minimum = {}},
        .reporter = {},
        .supervisor = {}};
    setup.chosen = std::move(asks);
    services_.log = make_logger(verbosity::quiet);
    scheduler_ = spawn_scheduler(system, services_, std::move(setup));
  }
  ~asking_run() { end_actor(scheduler_); }

  /// The unit that the device has to stage.
  unit staged() {
    post(scheduler_, device_added{device_id{0}, 1.0, system_.spawn<asked_device>(reported_), {}, {}});
    for (std::uint32_t m = 0; m < 3; ++m) {
      model_added added{.model = model_id{m}, .task = {}, .traits = {}};
      added.traits.graphs = graphs_of_shape(added.traits.shape);
      post(scheduler_, added);
      unit_ready ready;
      ready.what.model = model_id{m};
      ready.what.step = step_index{7};
      ready.what.way = direction::backward;
      ready.remaining = ready.cost = 1ms * (m + 1);
      post(scheduler_, ready);
    }
    post(scheduler_, device_freed{device_id{0}, 1, {}, {}, {}});
    return reported_.get();
  }

 private:
  caf::actor_system& system_;
  run_services services_;
  scheduler_actor scheduler_;
  report_to<unit> reported_;
};

/// Offers a policy actor on 127.0.0.1.
struct offering_side {
  explicit offering_side(advice says) : config{networked()}, system{*config} {
    actor = scripted_source(std::move(says)).start(system);
    port = *system.middleman().publish(actor, 0, "127.0.0.1");
  }
  ~offering_side() { end_actor(actor); }

  std::unique_ptr<caf::actor_system_config> config;
  caf::actor_system system;
  policy_actor actor;
  std::uint16_t port = 0;
};

}  // namespace

TEST_CASE("a policy actor in another process sees the candidates as they are and decides", "[remote-policy]") {
  report_to<advice_wanted> notified;
  offering_side there{[notified, first = true](const advice_wanted& m) mutable {
    if (std::exchange(first, false)) {
      notified.promise->set_value(m);
    }
    return std::optional{policy_advised{m.request, m.device.device, m.candidates.back().next}};
  }};
  const auto config = networked();
  caf::actor_system here{*config};
  const auto actor = here.middleman().remote_actor<policy_actor>("127.0.0.1", there.port);
  REQUIRE(actor);
  const auto chosen = asking_run{here, *actor}.staged();
  const auto m = notified.get();
  CHECK(chosen == m.candidates.back().next);
  CHECK(chosen.step == step_index{7});
  CHECK(chosen.way == direction::backward);
  CHECK(m.devices.size() == 1);
  CHECK(m.device.device == device_id{0});
  CHECK(m.candidates.front().cost == 1ms);
  CHECK_FALSE(m.device.running);
}

TEST_CASE("a remote policy actor that dies while it thinks is replaced", "[remote-policy]") {
  offering_side there{[](const advice_wanted&) -> std::optional<policy_advised> { throw std::runtime_error("gone"); }};
  const auto config = networked();
  caf::actor_system here{*config};
  const auto actor = here.middleman().remote_actor<policy_actor>("127.0.0.1", there.port);
  REQUIRE(actor);
  CHECK(asking_run{here, *actor}.staged().step == step_index{7});
}

namespace {

/// The actor that is offered on a port of this machine.
policy_actor_source remote_source(std::uint16_t port) {
  const auto find = [port](caf::actor_system& system) {
    const auto found = system.middleman().remote_actor<policy_actor>("127.0.0.1", port);
    return found ? *found : policy_actor{};
  };
  return {.name = "remote", .start = find, .outlives_run = true, .prepare = add_network};
}

report trained_by(policy_actor_source source) {
  session s{{.log = verbosity::quiet, .policies = {.advice = patience}}};
  s.add_devices(2, cpu_device{.memory = byte_count{1 << 20}});
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
}

}  // namespace

TEST_CASE("sessions train under a policy actor of another process, which outlives them", "[remote-policy]") {
  offering_side there{longest_remaining};
  for (int run = 0; run < 2; ++run) {
    const auto r = trained_by(remote_source(there.port));
    CHECK(r.all_finished());
    CHECK(r.policy == "remote");
    CHECK(r.replaced == 0);
  }
}

TEST_CASE("a session continues without a remote policy actor that dies", "[remote-policy]") {
  int questions = 0;
  offering_side there{[&](const advice_wanted& m) {
    if (++questions == 5) {
      throw std::runtime_error("gone");
    }
    return longest_remaining(m);
  }};
  const auto r = trained_by(remote_source(there.port));
  CHECK(r.all_finished());
  CHECK(r.replaced == 1);
}

TEST_CASE("a session whose remote policy actor cannot be reached does not start", "[remote-policy]") {
  CHECK_THROWS_WITH(trained_by(remote_source(1)), Catch::Contains("remote: there is no actor to ask"));
}
