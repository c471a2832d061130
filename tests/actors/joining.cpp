// Models that join a run under way, message by message, under virtual time.

#include "tests/support/memory_store.hpp"
#include "tests/support/overhear.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace joining_test {

simulated_model small(const std::string& name, std::uint32_t steps) { return even_model(name, 2, steps, 2ms, 1ms); }

/// "first" on the devices; "late" may be added.
simulation_setup open_run(std::uint32_t steps, std::size_t devices = 1) {
  auto setup = even_run({small("first", steps)}, devices);
  setup.joiners = {small("late", 3)};
  return setup;
}

void step(simulation& s, int messages) {
  for (int i = 0; i < messages; ++i) {
    s.step();
  }
}

/// Until the supervisor has answered that many times.
void step_until_answered(simulation& s, std::size_t answers = 1) {
  while (s.joins().size() < answers && s.step()) {
  }
}

/// All messages from here to the end.
std::vector<std::string> reported(simulation& s) {
  std::vector<std::string> lines;
  do {
    const auto m = overhear(s);
    if (auto line = m ? to_text(*m) : ""; !line.empty()) {
      lines.push_back(std::move(line));
    }
  } while (s.step());
  return lines;
}

TEST_CASE("a model that is added joins the run as its last model and is trained to its end", "[joining]") {
  const std::vector models{small("first", 8), small("late", 3)};
  simulation s(open_run(8, 2));
  step(s, 100);
  s.add_model("late");
  s.run();
  REQUIRE(s.joins().size() == 1);
  CHECK(s.joins()[0].model == model_id{1});
  CHECK(unfinished(s, models) == "");
  CHECK(out_of_order(s, models) == "");
  CHECK(s.record()->joined.size() == 1);
  CHECK(s.record()->models[1].arrival > duration{});
  CHECK(s.record()->leftovers == "");
}

TEST_CASE("the messages of a model that joins are in the order of protocol.hpp", "[joining]") {
  simulation s(open_run(8));
  step(s, 100);
  s.add_model("late");
  const auto all = reported(s);
  std::vector<std::string> story;
  for (const auto& line : all) {
    for (const auto* word : {"prepare_model", "model_prepared", "register_model", "model_admitted"}) {
      if (line.find(word) != std::string::npos) {
        story.push_back(line);
      }
    }
    if (line.find("MODEL TASK 1") != std::string::npos && story.size() < 9) {
      story.push_back(line);
    }
  }
  REQUIRE(story.size() >= 9);
  story.resize(9);
  CHECK(story == std::vector<std::string>{
                     "SUPERVISOR -> ADMISSION prepare_model late",
                     "ADMISSION -> SUPERVISOR model_prepared late",
                     "SUPERVISOR -> MODEL TASK 1 begin_run",  // sent after the next two: its messages arrive after them
                     "SUPERVISOR -> MEMORY MANAGER register_model 1",
                     "SUPERVISOR -> DATA model_admitted 1",
                     "MODEL TASK 1 -> DATA batch_wanted step 0",
                     "MODEL TASK 1 -> DATA batch_wanted step 1",
                     "MODEL TASK 1 -> SCHEDULER model_added 1",
                     "MEMORY MANAGER -> MODEL TASK 1 batch_ready step 0",
                 });
}

TEST_CASE("whenever a model is added, it is trained to its end or refused because the run is over", "[joining]") {
  std::size_t joined = 0, refused = 0;
  for (int at = 0; refused < 3 && at < 500; ++at) {
    INFO("added after " << at << " messages");
    simulation s(open_run(1));
    step(s, at);
    s.add_model("late");
    s.run();
    const bool joins = !s.joins().empty() && !s.joins()[0].why;
    ++(joins ? joined : refused);
    REQUIRE(unfinished(s, joins ? std::vector{small("first", 1), small("late", 3)} : std::vector{small("first", 1)}) ==
            "");
    REQUIRE(s.record()->models.size() == (joins ? 2 : 1));
  }
  CHECK(joined > 0);
  CHECK(refused > 0);
}

TEST_CASE("a callback adds a model after the very last step, and the run continues with it", "[joining]") {
  const std::vector models{small("first", 2), small("late", 3)};
  auto setup = open_run(2);
  setup.callbacks.add<step_completed>([](const step_completed& e, control& c) {
    if (e.name == "first" && e.done == e.of) {
      model_description late;
      late.name = "late";
      c.add(late);
    }
  });
  const auto s = finished(std::move(setup));
  CHECK(unfinished(*s, models) == "");
}

TEST_CASE("a model that cannot be prepared is refused, and the run continues unchanged", "[joining]") {
  const auto alone = finished(open_run(8));
  simulation s(open_run(8));
  step(s, 100);
  s.add_model("stranger");
  s.run();
  REQUIRE(s.joins().size() == 1);
  CHECK(s.joins()[0].why.code == fault_code::does_not_fit);
  CHECK(s.record()->refused.at(0).name == "stranger");
  CHECK(unfinished(s, {small("first", 8)}) == "");
  CHECK(makespan(s) == makespan(*alone));
}

TEST_CASE("a run that is being halted takes no model, not even one that is almost ready", "[joining]") {
  SECTION("asked for after the halt") {
    simulation s(open_run(8));
    step(s, 100);
    post(s.actors().supervisor, interrupt_run{});
    s.add_model("late");
    s.run();
    REQUIRE(s.joins().size() == 1);
    CHECK(s.joins()[0].why.code == fault_code::refused);
    CHECK(s.record()->models.size() == 1);
  }
  SECTION("asked for before it") {
    simulation s(open_run(8));
    step(s, 100);
    s.add_model("late");
    post(s.actors().supervisor, interrupt_run{});
    s.run();
    REQUIRE(s.joins().size() == 1);
    CHECK(s.joins()[0].why.code == fault_code::refused);
    CHECK_THAT(s.record()->refused.at(0).why.text, Contains("halted"));
  }
}

TEST_CASE("a request after the end of the run gets no answer, and its sender notices", "[joining]") {
  simulation s(open_run(1));
  s.run();
  auto alive = std::make_shared<int>();
  const std::weak_ptr<int> asked = alive;
  post(s.actors().supervisor, add_model{{}, [alive = std::move(alive)](const join_result&) {}});
  s.run();
  CHECK(asked.expired());  // this is how a session's thread learns of it
}

TEST_CASE("models join one after the other, in the order they were asked for", "[joining]") {
  auto setup = open_run(8);
  setup.joiners = {small("b", 2), small("c", 2)};
  simulation s(std::move(setup));
  step(s, 50);
  s.add_model("c");
  s.add_model("b");
  s.run();
  CHECK(unfinished(s, {small("first", 8), small("c", 2), small("b", 2)}) == "");
  CHECK(s.record()->joined.at(model_id{1}).what->name == "c");
}

TEST_CASE("a device that is lost right after a model has joined costs neither", "[joining]") {
  const std::vector models{small("first", 8), small("late", 3)};
  for (int later = 0; later < 60; later += 3) {
    INFO("lost " << later << " messages after the model has joined");
    simulation s(open_run(8, 2));
    step(s, 100);
    s.add_model("late");
    step_until_answered(s);
    step(s, later);
    caf::anon_send_exit(s.actors().devices[0], caf::exit_reason::kill);
    s.run();
    REQUIRE(unfinished(s, models) == "");
    REQUIRE(out_of_order(s, models) == "");
  }
}

TEST_CASE("a model that has joined is saved as the others are", "[joining]") {
  memory_store store;
  auto setup = open_run(8);
  setup.checkpoints = {.store = &store, .every_steps = 1, .every = {}};
  simulation s(std::move(setup));
  step(s, 100);
  s.add_model("late");
  s.run();
  REQUIRE(store.of("late").size() >= 3);
  CHECK(store.of("late").back().standing.next.step == 3);
}

TEST_CASE("a model that joins counts its arrival from when it did, and its completion since then", "[joining]") {
  simulation s(open_run(8));
  step(s, 200);
  s.add_model("late");
  step_until_answered(s);
  const auto joined = s.now();
  s.run();
  CHECK(s.record()->models[1].arrival == joined - s.record()->began);
}

TEST_CASE("the reporter is notified of a model that joins before the actors that may report about it", "[joining]") {
  simulation s(open_run(8));
  step(s, 100);
  s.add_model("late");
  std::vector<std::string> notified;
  do {
    if (const auto m = overhear(s); m && m->to.part == role::reporter && m->get<model_admitted>()) {
      notified.push_back("reporter");
    } else if (m && m->to.part == role::memory && m->get<register_model>()) {
      notified.push_back("memory");
    }
  } while (s.step());
  CHECK(notified == std::vector<std::string>{"reporter", "memory"});
}

}  // namespace joining_test
