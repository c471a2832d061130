// The events of a run for which no model waits, as callbacks see them, under virtual time.

#include "tests/support/log_lines.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/overhear.hpp"
#include "tests/support/small_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

using event_lines = std::vector<std::string>;

simulated_model two_shards_of(const std::string& name, std::uint32_t steps) {
  return even_model(name, 2, steps, 2ms, 1ms);
}

/// A line for each event.
void watch_all(run_callbacks& all, event_lines& seen) {
  all.add<run_begun>([&](const run_begun& e, control&) {
    seen.push_back(fmt::format("{} on {}", fmt::join(e.models, ", "), fmt::join(e.devices, ", ")));
  });
  all.add<model_joined>([&](const model_joined& e, control&) {
    seen.push_back(fmt::format("{} joins at {} of {}", e.name, e.done, e.of));
  });
  all.add<step_completed>([&](const step_completed& e, control&) {
    seen.push_back(fmt::format("{} step {} of {}", e.name, e.done, e.of));
  });
  all.add<checkpoint_saved>(
      [&](const checkpoint_saved& e, control&) { seen.push_back(fmt::format("{} is saved at {}", e.name, e.done)); });
  all.add<model_paused>(
      [&](const model_paused& e, control&) { seen.push_back(fmt::format("{} is paused at {}", e.name, e.done)); });
  all.add<model_ended>([&](const model_ended& e, control&) {
    seen.push_back(fmt::format("{} ends at {}{}", e.name, e.done, e.stopped ? ", stopped" : ""));
  });
  all.add<model_failed>([&](const model_failed& e, control&) {
    seen.push_back(fmt::format("{} fails at {}: {}", e.name, e.done, e.why.text));
  });
  all.add<model_refused>(
      [&](const model_refused& e, control&) { seen.push_back(fmt::format("{} is refused", e.name)); });
  all.add<device_lost>(
      [&](const device_lost& e, control&) { seen.push_back(fmt::format("{} is lost: {}", e.name, e.why.text)); });
  all.add<policy_replaced>(
      [&](const policy_replaced& e, control&) { seen.push_back(fmt::format("{} is replaced: {}", e.policy, e.why)); });
}

/// Those about one thing.
event_lines lines_about(const event_lines& all, const std::string& what) {
  event_lines found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const auto& line) { return line.starts_with(what + " "); });
  return found;
}

/// Models that are saved, and continue from there.
simulation_setup saving_run(std::vector<simulated_model> models, memory_store& store) {
  auto setup = even_run(std::move(models), 1);
  setup.checkpoints = {.store = &store, .every_steps = 0, .every = {}};
  setup.saved = [&store](const std::string& model) -> std::optional<model_checkpoint> {
    const auto& all = store.of(model);
    return all.empty() ? std::nullopt : std::optional(all.back());
  };
  return setup;
}

void let_handle(simulation& s, int messages) {
  for (int i = 0; i < messages; ++i) s.step();
}

/// Chooses nothing.
struct mute_policy final : policy {
  std::string name() const override { return "mute"; }
  std::optional<std::size_t> choose(const device_state&, std::span<const candidate>, const policy_view&) override {
    return {};
  }
};

}  // namespace

TEST_CASE("callbacks see a run begin, and its models join, be saved and end, in this order", "[events]") {
  memory_store store;
  auto setup = saving_run({two_shards_of("a", 2), two_shards_of("b", 1)}, store);
  const std::vector plans{make_simulated_model(setup.models[0])->plan};
  setup.planned_memory = host_demand(plans, 1);
  setup.waiting = {model_id{1}};
  event_lines seen;
  watch_all(setup.callbacks, seen);
  const auto s = finished(std::move(setup));
  CHECK(seen == event_lines{"a, b on sim:0", "a joins at 0 of 2", "a step 1 of 2", "a step 2 of 2", "a is saved at 2",
                            "a ends at 2", "b joins at 0 of 1", "b step 1 of 1", "b is saved at 1", "b ends at 1"});
  CHECK(s->record()->leftovers == "");
}

TEST_CASE("a model of a resumed run that is stopped while it waits for memory ends with the steps that it had",
          "[events]") {
  const std::vector models{two_shards_of("a", 2), two_shards_of("b", 3)};
  memory_store store;
  auto before = saving_run(models, store);
  before.checkpoints.every_steps = 1;
  finished(std::move(before));
  auto setup = saving_run(models, store);
  setup.resumed = {store.of("a").front(), store.of("b").front()};
  setup.waiting = {model_id{1}};
  setup.planned_memory = host_demand(std::vector{make_simulated_model(models[0])->plan}, 1);
  event_lines seen;
  watch_all(setup.callbacks, seen);
  simulation s(std::move(setup));
  s.steer("b", model_command::stop);
  s.run();
  REQUIRE(s.record());
  CHECK(lines_about(seen, "a").front() == "a joins at 1 of 2");
  CHECK(lines_about(seen, "b") == event_lines{"b ends at 1, stopped"});
}

TEST_CASE("a callback for the end of the last model adds one, and the run continues with it", "[events]") {
  const std::vector models{two_shards_of("first", 2), two_shards_of("late", 3)};
  auto setup = even_run({models[0]}, 1);
  setup.joiners = {models[1]};
  setup.callbacks.add<model_ended>([](const model_ended& e, control& c) {
    if (e.name == "first") {
      model_description late;
      late.name = "late";
      c.add(late);
    }
  });
  const auto s = finished(std::move(setup));
  CHECK(unfinished(*s, models) == "");
}

TEST_CASE("a callback of an event stops a model as a command does", "[events]") {
  auto setup = even_run({two_shards_of("a", 6), two_shards_of("b", 6)}, 1);
  event_lines seen;
  watch_all(setup.callbacks, seen);
  setup.callbacks.add<model_joined>([](const model_joined& e, control& c) {
    if (e.name == "b") c.stop(e.model);
    c.stop(model_id{7});  // there is none
  });
  const auto s = finished(std::move(setup));
  CHECK(s->record()->models[0].steps == 6);
  CHECK(s->record()->models[1].stopped);
  CHECK(s->record()->models[1].steps < 6);
  CHECK_THAT(lines_about(seen, "b").back(), Contains(", stopped"));
}

TEST_CASE("callbacks learn that a device is lost and a policy replaced, and why", "[events]") {
  auto setup = even_run({two_shards_of("a", 4), two_shards_of("b", 4)}, 2);
  setup.chosen = std::make_unique<mute_policy>();
  event_lines seen;
  watch_all(setup.callbacks, seen);
  simulation s(std::move(setup));
  s.kill_device(1, 3ms);
  s.run();
  CHECK(lines_about(seen, "sim:1") == event_lines{"sim:1 is lost: the device is gone"});
  REQUIRE(lines_about(seen, "mute").size() == 1);
  CHECK(lines_about(seen, "mute")[0] == "mute is replaced: " + s.record()->replacements.at(0));
  CHECK(lines_about(seen, "a").back() == "a ends at 4");
}

TEST_CASE("a model that is paused has joined again when it is resumed; one that is not there is refused", "[events]") {
  memory_store store;
  auto setup = saving_run({two_shards_of("a", 9), two_shards_of("b", 9)}, store);
  setup.joiners = {two_shards_of("c", 1)};
  event_lines seen;
  watch_all(setup.callbacks, seen);
  simulation s(std::move(setup));
  let_handle(s, 200);
  s.steer("b", model_command::pause);
  s.add_model("stranger");
  s.run();
  REQUIRE_FALSE(s.record());
  const auto paused = lines_about(seen, "b").back();
  REQUIRE_THAT(paused, Contains("b is paused at "));
  const auto at = paused.substr(std::string("b is paused at ").size());
  s.steer("b", model_command::resume);
  s.run();
  REQUIRE(s.record());
  const auto of_b = lines_about(seen, "b");
  CHECK(std::ranges::count(of_b, "b joins at " + at + " of 9") == 1);
  CHECK(of_b.back() == "b ends at 9");
  CHECK(lines_about(seen, "stranger") == event_lines{"stranger is refused"});
}

TEST_CASE("models of a run that is interrupted fail with that reason", "[events]") {
  auto setup = even_run({two_shards_of("a", 50)}, 1);
  event_lines seen;
  watch_all(setup.callbacks, seen);
  simulation s(std::move(setup));
  let_handle(s, 100);
  post(s.actors().supervisor, interrupt_run{});
  s.run();
  REQUIRE(s.record());
  CHECK_THAT(seen.back(), Contains("a fails at ") && Contains("the run was interrupted"));
}

TEST_CASE("a run does not wait for a callback of an event longer than for others", "[events]") {
  auto setup = even_run({two_shards_of("a", 2)}, 1);
  setup.callback_limit = 1ms;
  setup.callbacks.add<model_ended>([](const model_ended&, control&) {});
  simulation s(std::move(setup));
  const auto let_others_run = [&s] {
    for (bool goes_on = true; goes_on;) {
      const auto choice = choice_without(s, s.actors().controller.id());
      goes_on = choice ? s.step(*choice) : s.let_time_pass();
    }
  };
  let_others_run();
  REQUIRE_FALSE(s.record());  // the end of the model is not acknowledged
  post(s.actors().supervisor, callback_began{"the end of a"});
  let_others_run();
  REQUIRE(s.record());  // though the controller has not run yet
  CHECK_THAT(s.record()->callbacks_lost,
             Contains("a callback has not returned within ") && Contains(" after the end of a"));
  CHECK(s.record()->models[0].steps == 2);
}

TEST_CASE("no event is sent that no callback subscribes to", "[events]") {
  memory_store store;
  auto setup = saving_run({two_shards_of("a", 2)}, store);
  setup.callbacks.add<step_completed>([](const step_completed&, control&) {});
  simulation s(std::move(setup));
  bool sent = false;
  do {
    const auto m = overhear(s);
    sent = sent || (m && (m->get<event_observed>() || m->get<checkpoint_saved>()));
  } while (s.step());
  CHECK_FALSE(sent);
  CHECK(s.record()->models[0].steps == 2);
}

TEST_CASE("a run that waits for nothing but paused models says so once, and names them", "[events]") {
  memory_store store;
  auto setup = saving_run({two_shards_of("a", 3), two_shards_of("b", 9), two_shards_of("c", 9)}, store);
  event_lines logged;
  setup.log = logger_to([&](const std::string& line) { logged.push_back(line); });
  simulation s(std::move(setup));
  let_handle(s, 100);
  s.steer("b", model_command::pause);
  s.steer("c", model_command::pause);
  s.run();
  REQUIRE_FALSE(s.record());
  REQUIRE(logged.size() == 1);
  CHECK_THAT(logged[0],
             Contains("nothing is left to train but what is paused (b, c)") && Contains("resumed or stopped"));
  s.steer("c", model_command::stop);
  s.run();
  CHECK(logged.size() == 1);
  s.steer("b", model_command::resume);
  s.run();
  REQUIRE(s.record());
  CHECK(s.record()->models[1].steps == 9);
}
