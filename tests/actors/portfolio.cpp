// Models for which there is no memory at the start, and models that are stopped, paused and resumed from outside,
// message by message, under virtual time.

#include "actors/run/run_requests.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/fuzzer.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/overhear.hpp"
#include "tests/support/small_run.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

simulated_model small(const std::string& name, std::uint32_t steps, double priority = 1) {
  auto m = even_model(name, 2, steps, 2ms, 1ms);
  m.terms.priority = priority;
  return m;
}

/// Host memory for that many of them.
byte_count memory_for(const std::vector<simulated_model>& models, std::size_t count, std::size_t devices) {
  std::vector<model_plan> plans;
  for (std::size_t i = 0; i < count; ++i) {
    plans.push_back(make_simulated_model(models[i])->plan);
  }
  return host_demand(plans, devices);
}

/// Only the first `admitted` have memory at the start.
simulation_setup scarce_run(const std::vector<simulated_model>& models, std::size_t admitted, std::size_t devices = 1) {
  auto setup = even_run(models, devices);
  setup.planned_memory = memory_for(models, admitted, devices);
  for (std::size_t i = admitted; i < models.size(); ++i) {
    setup.waiting.insert(model_id{static_cast<std::uint32_t>(i)});
  }
  return setup;
}

/// Its models are saved, and paused ones continue from there.
simulation_setup steered_run(const std::vector<simulated_model>& models, memory_store& store, std::size_t devices = 1) {
  auto setup = even_run(models, devices);
  setup.checkpoints = {.store = &store, .every_steps = 0, .every = {}};
  setup.saved = [&store](const std::string& model) -> std::optional<model_checkpoint> {
    const auto& all = store.of(model);
    return all.empty() ? std::nullopt : std::optional(all.back());
  };
  return setup;
}

void step(simulation& s, int messages) {
  for (int i = 0; i < messages; ++i) {
    s.step();
  }
}

/// Until nothing is left to do, or the condition holds.
template <class Condition>
void step_until(simulation& s, Condition holds) {
  while (!holds() && s.step()) {
  }
}

struct admissions {
  std::vector<std::uint32_t> order;  ///< of those that have waited
  std::size_t most = 0;              ///< with memory at a time
};

/// Runs to the end.
admissions observe(simulation& s, std::size_t begins_with) {
  admissions seen{.order = {}, .most = begins_with};
  auto now = begins_with;
  do {
    const auto m = overhear(s);
    if (!m || m->to.part != role::reporter) {
      continue;
    }
    if (const auto* joined = m->get<model_admitted>()) {
      seen.order.push_back(joined->model.value);
      seen.most = std::max(seen.most, ++now);
    } else if (m->get<model_released>()) {
      --now;
    }
  } while (s.step());
  return seen;
}

std::vector<simulated_model> many(std::size_t count) {
  std::vector<simulated_model> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(small(fmt::format("m{}", i), 1 + static_cast<std::uint32_t>(i * 7 % 4)));
  }
  return all;
}

}  // namespace

TEST_CASE("models wait for memory, are admitted in their order when others have ended, and all are trained",
          "[portfolio]") {
  const auto models = many(24);
  simulation s(scarce_run(models, 3, 2));
  const auto seen = observe(s, 3);
  CHECK(unfinished(s, models) == "");
  CHECK(out_of_order(s, models) == "");
  CHECK(seen.most == 3);
  CHECK(seen.order.size() == 21);
  CHECK(std::ranges::is_sorted(seen.order));
  CHECK(s.record()->leftovers == "");
}

TEST_CASE("a model of higher priority is admitted first", "[portfolio]") {
  auto models = many(6);
  models[4].terms.priority = 3;
  models[3].terms.priority = 2;
  simulation s(scarce_run(models, 2));
  CHECK(observe(s, 2).order == std::vector<std::uint32_t>{4, 3, 2, 5});
}

TEST_CASE("a model that joins waits for memory, too, as long as others may give it back", "[portfolio]") {
  const std::vector models{small("first", 8), small("late", 3)};
  auto setup = scarce_run({models[0]}, 1);
  setup.joiners = {models[1], small("huge", 1)};
  setup.joiners[1].shards.front().parameters = byte_count{std::uint64_t{1} << 40};
  simulation s(std::move(setup));
  step(s, 100);
  s.add_model("huge");
  s.add_model("late");
  s.run();
  REQUIRE(s.joins().size() == 4);
  CHECK((s.joins()[0].waits && s.joins()[1].waits));
  CHECK_THAT(s.joins()[2].why.text,
             Contains("'huge' does not fit"));  // nobody has memory any more, and it still does not
  CHECK((!s.joins()[3].why && s.joins()[3].task));
  CHECK(unfinished(s, models) == "");
}

TEST_CASE("who is answered when its model has to wait is answered once, whatever becomes of the model", "[portfolio]") {
  const std::vector models{small("first", 8), small("late", 3)};
  auto setup = scarce_run({models[0]}, 1);
  setup.joiners = {models[1]};
  simulation s(std::move(setup));
  step(s, 100);
  auto answer = std::make_shared<std::promise<void>>();
  auto answered = answer->get_future();
  std::vector<std::string> refusals;
  model_description late;
  late.name = "late";
  post(s.actors().supervisor,
       add_model{late, early_sink_of(sink_of(answer), [&](const fault& why) { refusals.push_back(why.text); })});
  answer.reset();
  step_until(s, [&] { return answered.wait_for(0s) == std::future_status::ready; });
  REQUIRE(!s.record());
  SECTION("it joins") {
    s.run();
    CHECK(s.record()->models.size() == 2);
    CHECK(refusals.empty());
  }
  SECTION("it is stopped") {
    s.steer("late", model_command::stop);
    s.run();
    REQUIRE(s.answers().size() == 1);
    CHECK(!s.answers()[0]);
    REQUIRE(refusals.size() == 1);
    CHECK_THAT(refusals[0], Contains("stopped before there was memory"));
    CHECK(!s.record()->models[0].why);
  }
  SECTION("the run is interrupted") {
    post(s.actors().supervisor, interrupt_run{});
    s.run();
    REQUIRE(s.record());
    CHECK(s.record()->models[0].why.code == fault_code::interrupted);
    CHECK(refusals.size() == 1);
  }
}

TEST_CASE("a run that is interrupted ends without the models that wait", "[portfolio]") {
  const auto models = many(5);
  simulation s(scarce_run(models, 2));
  step(s, 60);
  post(s.actors().supervisor, interrupt_run{});
  s.run();
  REQUIRE(s.record());
  for (const auto& m : s.record()->models) {
    CHECK((m.ended && (m.why.code == fault_code::interrupted || !m.why)));
  }
  CHECK(s.record()->models[4].why.code == fault_code::interrupted);
}

TEST_CASE("a paused model gives its memory back and continues where it was, with the same id", "[portfolio]") {
  const std::vector models{small("first", 8), small("second", 8)};
  for (int at = 5; at < 400; at += 7) {
    INFO("paused after " << at << " messages");
    memory_store store;
    simulation s(steered_run(models, store, 2));
    step(s, at);
    s.steer("first", model_command::pause);
    step_until(s, [&] { return !s.answers().empty(); });
    REQUIRE(s.answers().size() == 1);
    if (s.answers()[0]) {
      CHECK_THAT(s.answers()[0].text, Contains("ended"));
      s.run();
      continue;
    }
    step(s, 40);
    s.steer("first", model_command::resume);
    s.run();
    REQUIRE(s.answers().size() == 2);
    CHECK(!s.answers()[1]);
    REQUIRE(unfinished(s, models) == "");
    REQUIRE(out_of_order(s, models) == "");
    CHECK(s.record()->leftovers == "");
  }
}

TEST_CASE("after a pause at most what computes is completed before the memory is free", "[portfolio]") {
  const std::vector models{small("first", 8), small("second", 8)};
  for (int at = 20; at < 300; at += 11) {
    memory_store store;
    simulation s(steered_run(models, store));
    step(s, at);
    s.steer("first", model_command::pause);
    int completed = 0;
    bool told = false;  // the task of the pause
    while (s.answers().empty()) {
      const auto m = overhear(s);
      told = told || (m && m->get<pause_model>());
      const auto* done = m && m->to.part == role::memory ? m->get<shard_demoted>() : nullptr;
      completed += told && done && done->what.model == model_id{0} ? 1 : 0;
      REQUIRE(s.step());
    }
    CHECK(completed <= 2);  // one that computes, and one that was being written back
  }
}

TEST_CASE("a model that is saved by a command is saved between two steps, and loses nothing", "[portfolio]") {
  const std::vector models{small("first", 6), small("second", 8)};
  int refused = 0;
  for (int at = 0; at < 300; at += 7) {
    INFO("after " << at << " messages");
    memory_store store;
    simulation s(steered_run(models, store, 2));
    step(s, at);
    s.steer("first", model_command::save);
    step_until(s, [&] { return !s.answers().empty(); });
    REQUIRE(s.answers().size() == 1);
    if (s.answers()[0]) {
      CHECK_THAT(s.answers()[0].text, Contains("'first' has done no step yet"));
      ++refused;
      continue;
    }
    const auto& saved = store.of("first").back();
    CHECK((saved.memory.at_step_begin() && saved.memory.step() > 0 && saved.memory.boundaries.empty()));
    s.run();
    REQUIRE(unfinished(s, models) == "");
    REQUIRE(out_of_order(s, models) == "");
    CHECK(s.record()->leftovers == "");
  }
  CHECK(refused < 30);  // of 43
}

TEST_CASE("a run whose only model is paused waits for a command", "[portfolio]") {
  const std::vector models{small("first", 8)};
  memory_store store;
  simulation s(steered_run(models, store));
  step(s, 60);
  s.steer("first", model_command::pause);
  s.run();
  REQUIRE(!s.record());
  SECTION("to resume it") {
    s.steer("first", model_command::resume);
    s.run();
    CHECK(unfinished(s, models) == "");
    CHECK(out_of_order(s, models) == "");
  }
  SECTION("to end") {
    post(s.actors().supervisor, interrupt_run{});
    s.run();
    REQUIRE(s.record());
    CHECK(s.record()->models[0].paused);
  }
  SECTION("to stop it") {
    s.steer("first", model_command::stop);
    s.run();
    REQUIRE(s.record());
    CHECK(s.record()->models[0].stopped);
  }
}

TEST_CASE("a model that cannot be saved is not paused and loses nothing", "[portfolio]") {
  struct full_for_one final : checkpoint_store {
    void save(const model_checkpoint&, const std::function<void(shard_index)>&) override {
      if (++asked == 1) {
        throw fault_error(fault_code::io, "no space left");
      }
    }
    int asked = 0;
  };
  const std::vector models{small("first", 8), small("second", 8)};
  for (int at = 5; at < 400; at += 7) {
    INFO("paused after " << at << " messages");
    full_for_one disk;
    auto setup = even_run(models, 2);
    setup.checkpoints = {.store = &disk, .every_steps = 0, .every = {}};
    simulation s(std::move(setup));
    step(s, at);
    s.steer("first", model_command::pause);
    s.run();
    REQUIRE(s.answers().size() == 1);
    CHECK_THAT(s.answers()[0].text, Contains("no space left") || Contains("ended"));
    REQUIRE(unfinished(s, models) == "");
    REQUIRE(out_of_order(s, models) == "");
    CHECK(s.record()->leftovers == "");
  }
}

TEST_CASE("a model that is stopped from outside ends with the step that has begun, and is evaluated there",
          "[portfolio]") {
  std::vector models{small("first", 8), small("second", 4)};
  models[0].evaluation = {.every = 3, .range = {.micro_batches = 2, .round = 1}};
  for (int at = 0; at < 300; at += 9) {
    INFO("stopped after " << at << " messages");
    simulation s(even_run(models, 1));
    step(s, at);
    s.steer("first", model_command::stop);
    s.run();
    REQUIRE(s.record());
    const auto& first = s.record()->models[0];
    REQUIRE(first.ended);
    CHECK(!first.why);
    CHECK(first.stopped == (first.steps < 8));
    CHECK(first.history.losses.size() == first.steps);
    CHECK(first.history.evaluated_after(first.steps));
    CHECK(out_of_order(s, models) == "");
  }
}

TEST_CASE("a model that is saved inside its last step, because it was stopped, ends with that step when it is resumed",
          "[portfolio]") {
  const std::vector models{small("first", 8)};
  int inside = 0;
  for (int at = 5; at < 100; at += 6) {
    for (int later = 1; later < 30; later += 4) {
      INFO("stopped after " << at << " messages, interrupted " << later << " later");
      memory_store store;
      simulation s(steered_run(models, store));
      step(s, at);
      s.steer("first", model_command::stop);
      step(s, later);
      post(s.actors().supervisor, interrupt_run{});
      s.run();
      REQUIRE(!store.of("first").empty());
      const std::vector begins{store.of("first").back()};
      inside += begins[0].standing.next.begins_step() ? 0 : 1;
      auto setup = steered_run(models, store);
      setup.resumed = begins;
      const auto resumed = finished(std::move(setup));
      const auto& first = resumed->record()->models[0];
      REQUIRE(first.ended);
      CHECK(first.stopped == (first.steps < 8));
      CHECK(first.history.losses.size() == first.steps);
      CHECK(out_of_order(*resumed, models, begins) == "");
      for (const auto version : store.of("first").back().memory.versions) CHECK(version.value == first.steps);
    }
  }
  CHECK(inside > 0);
}

TEST_CASE("commands that cannot be followed say why", "[portfolio]") {
  const auto models = many(3);
  memory_store store;
  const auto answer = [&](simulation_setup setup, const std::string& name, model_command what) {
    simulation s(std::move(setup));
    step(s, 40);
    s.steer(name, what);
    step_until(s, [&] { return !s.answers().empty(); });
    const auto why = s.answers().at(0);
    s.run();
    CHECK(unfinished(s, models) == "");
    return why.text;
  };
  CHECK_THAT(answer(scarce_run(models, 2), "m1", model_command::pause),
             Contains("'m1' cannot be paused") && Contains("saves nothing"));
  CHECK_THAT(answer(steered_run(models, store), "m1", model_command::resume),
             Contains("cannot be resumed: it is being trained"));
  CHECK_THAT(answer(steered_run(models, store), "n1", model_command::stop),
             Contains("no model \"n1\"") && Contains("did you mean \"m1\""));
}

namespace {

/// Random order of messages; a random command now and then. Empty, or what went wrong. An evaluation that was under way
/// is repeated, so the order of units is checked in runs without.
std::string steer_at_random(std::uint32_t seed) {
  std::mt19937 random(seed);
  memory_store store;
  auto setup = make_case(seed).setup;
  setup.joiners.clear();
  setup.callbacks = {};
  const bool evaluates = seed % 2 == 0;
  for (auto& m : setup.models) {
    m.evaluation = evaluates ? m.evaluation : evaluation_schedule{};
    m.keep_best = m.keep_best && evaluates;
  }
  const auto models = setup.models;
  setup.checkpoints = {.store = &store, .every_steps = seed % 3, .every = {}};
  setup.saved = steered_run({}, store).saved;
  simulation s(std::move(setup));
  const auto devices = s.actors().devices.size();
  const auto dies_at = devices > 1 && seed % 5 == 0 ? random() % 600 : ~0u;
  std::size_t n = 0;
  for (const std::size_t limit = 200'000; n < limit && !s.record(); ++n) {
    if (n == dies_at) {
      caf::anon_send_exit(s.actors().devices[random() % devices], caf::exit_reason::kill);
    }
    if (n < 3000 && random() % 60 == 0) {
      const auto& name = models[random() % models.size()].name;
      const std::vector commands{model_command::pause, model_command::resume, model_command::save};
      s.steer(name, commands[random() % commands.size()]);
    } else if (n >= 3000 && n % 50 == 0) {
      for (const auto& m : models) {
        s.steer(m.name, model_command::resume);
      }
    }
    if (!s.step(random()) && !s.record()) {
      for (const auto& m : models) {
        s.steer(m.name, model_command::resume);
      }
      n = std::max<std::size_t>(n, 3000);
    }
  }
  auto wrong = s.record() ? unfinished(s, models) : "no end";
  wrong = wrong.empty() && !evaluates ? out_of_order(s, models) : wrong;
  wrong = wrong.empty() ? s.record()->leftovers : wrong;
  return wrong.empty() ? wrong : fmt::format("seed {}: {}", seed, wrong);
}

}  // namespace

TEST_CASE("whatever is paused and resumed when, every unit is done once and in order", "[portfolio][fuzz]") {
  for (const std::uint32_t seed : seeds(500)) {
    REQUIRE(steer_at_random(seed) == "");
  }
}

TEST_CASE("more models are paused and resumed at random", "[.deep]") {
  for (std::uint32_t seed = 10'001; seed <= 40'000; ++seed) {
    REQUIRE(steer_at_random(seed) == "");
  }
}
