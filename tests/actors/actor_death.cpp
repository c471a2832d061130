// The actor of a model, SUPERVISOR or REPORTER dies, or throws, at every single message of a small run: no run hangs.

#include "tests/support/depth.hpp"
#include "tests/support/disturbed_run.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/overhear.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <string>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace actor_death_test {

template <class Handle>
void kill(const Handle& actor) {
  end_actor(actor);
}

simulation_setup watched_run(std::uint32_t slots) {
  auto setup = small_run(2, slots);
  setup.watch = {.minimum = 300us, .factor = 5};
  return setup;
}

/// If the victim ends last, the run does not wait for its units that still compute or were just withdrawn.
std::string left_over_of_others(const std::string& leftovers, std::size_t victim) {
  std::istringstream lines(leftovers);
  for (std::string line; std::getline(lines, line);) {
    const bool nameless = line.find(" holds lease ") != std::string::npos;  // of a copy that is under way
    if (!nameless && line.find("model " + std::to_string(victim)) == std::string::npos) {
      return line;
    }
  }
  return {};
}

/// The victim has finished, or reports why not; the other one has finished. No device is lost, nothing is left over.
void only_victim_failed(const simulation& s, std::size_t victim, const std::string& why) {
  REQUIRE(s.record());
  const auto& r = *s.record();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& m = r.models[i];
    REQUIRE(m.ended);
    REQUIRE(m.history.losses.size() <= m.steps);
    if (i != victim || !m.why) {
      REQUIRE(m.why.text == "");
      REQUIRE(m.steps == 2);
    } else {
      REQUIRE_THAT(m.why.text, Contains(why));
    }
    REQUIRE(r.devices[i].retired);
  }
  REQUIRE(left_over_of_others(r.leftovers, victim) == "");
}

using disturbance = std::function<void(simulation&, std::size_t victim)>;

void disturb_task_at_every_message(const disturbance& disturb, const std::string& why, checkpoint_store* store) {
  const auto slots = GENERATE(1U, 4U);
  for (std::size_t victim = 0; victim < 2; ++victim) {
    for (std::size_t at = 0, messages = 1; at < messages; ++at) {
      INFO("model " << victim << " at message " << at);
      auto setup = watched_run(slots);
      setup.checkpoints = {.store = store, .every_steps = 1, .every = {}};
      simulation s(std::move(setup));
      std::string complaint;
      messages = run_disturbed(
          s, at, [&] { disturb(s, victim); }, slots, complaint);
      REQUIRE(complaint == "");
      only_victim_failed(s, victim, why);
    }
  }
}

void kill_task(simulation& s, std::size_t victim) { kill(s.actors().tasks[victim]); }

/// It gets a message about a shard that no model has.
void confuse_task(simulation& s, std::size_t victim) {
  const model_id model{static_cast<std::uint32_t>(victim)};
  post(s.actors().tasks[victim], shard_updated{model, shard_index{99}, version_index{1}, {}, {}, {}});
}

TEST_CASE("a model's task may die at any message: the model fails, the other one finishes on healthy devices",
          "[loss]") {
  disturb_task_at_every_message(kill_task, "its task has died", nullptr);
}

TEST_CASE("a model's task may die at any message of a run that is saved", "[loss]") {
  memory_store store;
  disturb_task_at_every_message(kill_task, "its task has died", &store);
}

TEST_CASE("a model's task may throw at any message: the model fails, the other one finishes on healthy devices",
          "[loss]") {
  disturb_task_at_every_message(confuse_task, "", nullptr);
}

TEST_CASE("a model's task may throw at any message of a run that is saved", "[loss]") {
  memory_store store;
  disturb_task_at_every_message(confuse_task, "", &store);
}

TEST_CASE("a model's task may die in any order of messages", "[loss]") {
  for (const std::uint32_t seed : seeds(500)) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto slots = 1 + seed % 4;
    const auto victim = random() % 2;
    const auto at = random() % 400;
    simulation s(watched_run(slots));
    std::size_t n = 0;
    do {
      if (n++ == at) {
        kill_task(s, victim);
      }
    } while (s.step(random()));
    only_victim_failed(s, victim, "its task has died");
  }
}

TEST_CASE("when every task dies the run ends", "[loss]") {
  for (std::size_t at = 0, messages = 1; at < messages; ++at) {
    INFO("message " << at);
    simulation s(small_run(1, 1));
    std::string complaint;
    messages = run_disturbed(
        s, at, [&] { kill_task(s, 0), kill_task(s, 1); }, 1, complaint);
    REQUIRE(complaint == "");
    REQUIRE(s.record());
  }
}

// -- SUPERVISOR, REPORTER and the other actors ------------------------------------------------------------------------

namespace {

/// Kills one of the actors of the run, each time at another message.
template <class Victim>
void kill_at_every_message(Victim victim, const std::function<void(simulation&, memory_store&)>& check) {
  for (std::size_t at = 0, messages = 1; at < messages; ++at) {
    INFO("message " << at);
    memory_store store;
    auto setup = small_run(2, 1);
    setup.checkpoints.store = &store;
    setup.stall_limit = 1s;
    simulation s(std::move(setup));
    messages = 0;
    do {
      if (messages++ == at) {
        kill(victim(s.actors()));
      }
    } while (s.step());
    REQUIRE(s.record());
    check(s, store);
  }
}

}  // namespace

TEST_CASE("the supervisor may die at any message: the run ends and reports it", "[loss]") {
  kill_at_every_message([](const actors_spawned& actors) { return actors.supervisor; },
                        [](simulation& s, memory_store&) {
                          const auto& r = *s.record();
                          for (const auto& m : r.models) {
                            REQUIRE((m.ended || r.aborted.text.find("the supervisor of the run has died") == 0));
                          }
                          REQUIRE_FALSE((r.devices[0].lost || r.devices[1].lost));
                        });
}

TEST_CASE("the reporter may die at any message: the run ends and reports it, and every model is saved", "[loss]") {
  kill_at_every_message([](const actors_spawned& actors) { return actors.reporter; },
                        [](simulation& s, memory_store& store) {
                          const auto& r = *s.record();
                          for (const auto& m : r.models) {
                            REQUIRE((m.ended || r.aborted.text.find("the reporter of the run has died") == 0));
                          }
                          for (const auto& m : small_models()) {
                            REQUIRE(store.of(m.name).size() == 1);
                          }
                        });
}

TEST_CASE("a run whose reporter has died is halted: its models are saved where they are", "[loss]") {
  memory_store store;
  auto setup = small_run(2, 1);
  setup.checkpoints.store = &store;
  setup.stall_limit = 1s;
  simulation s(std::move(setup));
  kill(s.actors().reporter);
  s.run();
  REQUIRE(s.record());
  for (const auto& m : small_models()) {
    REQUIRE(store.of(m.name).size() == 1);
    CHECK(store.of(m.name)[0].standing.next.step < m.steps);
  }
}

TEST_CASE("whichever actor of the run dies, at any message, the run ends and reports it", "[loss]") {
  using pick = std::function<caf::actor(const actors_spawned&)>;
  const auto part = [](auto member) {
    return pick([member](const actors_spawned& actors) { return caf::actor_cast<caf::actor>(actors.*member); });
  };
  const auto victim = GENERATE_COPY(part(&actors_spawned::scheduler), part(&actors_spawned::memory),
                                    part(&actors_spawned::optimizer), part(&actors_spawned::checkpointer));
  kill_at_every_message(victim, [](simulation& s, memory_store&) {
    const auto& r = *s.record();
    for (const auto& m : r.models) {
      REQUIRE(m.ended);
    }
    for (const auto& d : r.devices) {
      REQUIRE_FALSE(d.lost);
    }
  });
}

TEST_CASE("the reader of data may die at any message: what was trained is saved", "[loss]") {
  kill_at_every_message([](const actors_spawned& actors) { return actors.data; },
                        [](simulation& s, memory_store& store) {
                          for (const auto& m : s.record()->models) {
                            REQUIRE(m.ended);
                          }
                          for (const auto& m : small_models()) {
                            REQUIRE(store.of(m.name).size() == 1);
                          }
                          REQUIRE(s.record()->checkpoints.saved == 2);
                        });
}

// -- memory of a model that dies --------------------------------------------------------------------------------------

namespace {

/// Lets all actors but the checkpointer run until `seen` is true for a message, or they have nothing left to do.
bool run_until(simulation& s, const std::function<bool(const overheard&)>& seen) {
  while (const auto choice = choice_without(s, s.actors().checkpointer.id())) {
    const auto m = overhear(s, *choice);
    if (m && seen(*m)) {
      return true;
    }
    s.step(*choice);
  }
  return s.let_time_pass() && run_until(s, seen);
}

std::function<bool(const overheard&)> released(std::uint32_t model) {
  return [model](const overheard& m) {
    const auto* const message = m.get<model_released>();
    return message && message->model == model_id{model} && m.to.part == role::supervisor;
  };
}

}  // namespace

TEST_CASE("a model that fails while it is saved frees nothing before its checkpoint is written", "[loss]") {
  memory_store store;
  auto setup = small_run(2, 1);
  setup.checkpoints = {.store = &store, .every_steps = 1, .every = {}};
  simulation s(std::move(setup));
  const auto is_saved = [&] {
    const auto m = overhear(s);
    const auto* const save = m && m->to.part == role::checkpointer ? m->get<save_model>() : nullptr;
    return save && save->model == model_id{0};
  };
  for (int i = 0; i < 100000 && !is_saved(); ++i) {
    s.step();
  }
  REQUIRE(is_saved());
  confuse_task(s, 0);
  CHECK_FALSE(run_until(s, released(0)));
  bool reported = false;
  for (auto m = overhear(s); !s.record(); m = overhear(s)) {
    reported = reported || (m && released(0)(*m));
    s.step();
  }
  CHECK(reported);
}

TEST_CASE("a model that fails before it has started frees its memory", "[loss]") {
  auto setup = small_run(2, 1);
  setup.models[0].terms.arrival = 10s;
  simulation s(std::move(setup));
  confuse_task(s, 0);
  bool reported = false;
  for (auto m = overhear(s); !s.record(); m = overhear(s)) {
    reported = reported || (m && released(0)(*m));
    if (!s.step()) {
      break;
    }
  }
  CHECK(reported);
}

namespace {

bool has_ended(const task_actor& task) {
  const auto ended = std::make_shared<bool>(false);
  at_end_of(task, [ended] { *ended = true; });
  return *ended;
}

}  // namespace

TEST_CASE("models that have joined end with the supervisor", "[loss]") {
  for (std::size_t at = 0, messages = 1; at < messages; ++at) {
    INFO("message " << at);
    auto setup = small_run(2, 1);
    setup.joiners.push_back(small_models()[0]);
    setup.joiners[0].name = "late";
    simulation s(std::move(setup));
    s.add_model("late");
    messages = 0;
    do {
      if (messages++ == at) {
        kill(s.actors().supervisor);
      }
    } while (s.step());
    REQUIRE(s.record());
    for (const auto& j : s.joins()) {
      REQUIRE((j.why || has_ended(j.task)));
    }
  }
}

}  // namespace actor_death_test
