// What a run answers when it is asked what it does now.

#include "tests/support/memory_store.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

/// Of three models, the third has to wait for memory.
simulation_setup crowded(memory_store& store, std::uint32_t steps) {
  const std::vector models{even_model("first", 2, steps, 2ms, 1ms), even_model("second", 2, steps, 2ms, 1ms),
                           even_model("third", 2, steps, 2ms, 1ms)};
  auto setup = even_run(models, 2);
  const std::vector plans{make_simulated_model(models[0])->plan, make_simulated_model(models[1])->plan};
  setup.planned_memory = host_demand(plans, 2);
  setup.waiting = {model_id{2}};
  setup.checkpoints = {.store = &store, .every_steps = 0, .every = {}};
  return setup;
}

/// None if the run ends before it answers.
std::optional<run_status> status_of(simulation& s) {
  std::optional<run_status> got;
  post(s.actors().supervisor, read_status{[&got](run_status now) { got = std::move(now); }});
  while (!got && s.step()) {
  }
  return got;
}

/// After the first messages of a run: its models are being trained.
void begin(simulation& s) {
  for (int i = 0; i < 100; ++i) {
    s.step();
  }
}

}  // namespace

TEST_CASE("the status of a run has its models in their order, what they wait for, devices and memory", "[status]") {
  memory_store store;
  simulation s(crowded(store, 40));
  for (int i = 0; i < 200; ++i) {
    s.step();
  }
  const auto now = status_of(s);
  REQUIRE(now);
  REQUIRE(now->models.size() == 3);
  CHECK(now->models[0].name == "first");
  CHECK(now->models[0].phase == model_phase::training);
  CHECK(now->models[0].of == 40u);
  CHECK(now->models[0].steps > 0);
  CHECK(now->models[0].loss);
  CHECK(now->models[0].learning_rate);
  CHECK_FALSE(now->models[2].learning_rate);
  CHECK(now->models[2].phase == model_phase::waiting);
  CHECK(now->models[2].note == "for host memory: 1 of 1");
  REQUIRE(now->devices.size() == 2);
  CHECK((now->devices[0].busy > 0 && now->devices[0].busy <= 1));
  CHECK(now->devices[0].memory.budget > byte_count{});
  CHECK(now->host.used <= now->host.peak);
  CHECK(now->elapsed > duration{});
}

TEST_CASE("the status follows what is done to the models", "[status]") {
  memory_store store;
  simulation s(crowded(store, 40));
  begin(s);
  s.steer("first", model_command::stop);
  s.steer("second", model_command::pause);
  while (s.answers().size() < 2 && s.step()) {
  }
  const auto now = status_of(s);
  REQUIRE(now);
  CHECK(now->models[1].phase == model_phase::paused);
  for (int i = 0; i < 200; ++i) {
    s.step();
  }
  const auto later = status_of(s);
  REQUIRE(later);
  CHECK(later->models[0].phase == model_phase::stopped);
  CHECK(later->models[0].steps < 40);
  CHECK(later->models[2].phase == model_phase::training);
}

TEST_CASE("who asks a run that has ended gets no answer, and learns that there will be none", "[status]") {
  memory_store store;
  simulation s(crowded(store, 2));
  s.run();
  auto alive = std::make_shared<int>();
  const std::weak_ptr<int> asks = alive;
  post(s.actors().supervisor, read_status{[alive = std::move(alive)](const run_status&) { FAIL("an answer"); }});
  s.run();
  CHECK(asks.expired());
}

TEST_CASE("a model that is being stopped says so, and cannot be paused any more", "[status]") {
  memory_store store;
  simulation s(crowded(store, 40));
  begin(s);
  s.steer("first", model_command::stop);
  s.steer("first", model_command::pause);
  const auto now = status_of(s);
  REQUIRE(now);
  CHECK_THAT(now->models[0].note, Catch::Contains("until it stops"));
  REQUIRE(s.answers().size() == 2);
  CHECK_THAT(s.answers()[1].text, Catch::Contains("it is being stopped"));
}

TEST_CASE("a model that was paused, resumed and paused again, and could not be saved, is trained on", "[status]") {
  memory_store store;
  full_disk disk;
  auto setup = crowded(store, 40);
  setup.checkpoints.store = &disk;
  simulation s(std::move(setup));
  begin(s);
  s.steer("first", model_command::pause);
  s.steer("first", model_command::resume);
  s.steer("first", model_command::pause);
  while (s.answers().size() < 3 && s.step()) {
  }
  REQUIRE(s.answers().size() == 3);
  CHECK(s.answers()[0].text == "");  // of the resumption: pauses are answered when they are done
  CHECK_THAT(s.answers()[2].text, Catch::Contains("no space left"));
  const auto now = status_of(s);
  REQUIRE(now);
  CHECK(now->models[0].phase == model_phase::training);
  CHECK(now->models[0].note == "");
}

TEST_CASE("the status counts the checkpoints of a model, but for its best states", "[status]") {
  memory_store store;
  auto m = even_model("only", 2, 40, 2ms, 1ms);
  m.evaluation = {.every = 5, .range = {.micro_batches = 1, .round = 1}};
  m.keep_best = true;
  auto setup = even_run({m}, 1);
  setup.checkpoints = {.store = &store, .every_steps = 10, .every = {}};
  simulation s(std::move(setup));
  while (store.of("only").size() < 2 && s.step()) {
  }
  s.steer("only", model_command::pause);
  while (s.answers().empty() && s.step()) {
  }
  const auto now = status_of(s);
  REQUIRE(now);
  CHECK(now->models[0].phase == model_phase::paused);
  CHECK(now->models[0].checkpoints == store.of("only").size());
  CHECK_FALSE(store.best_of("only").empty());
}
