#include "actors/run/model_phases.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

namespace {

model_description named(const char* name) {
  model_description what;
  what.name = name;
  return what;
}

constexpr model_id first{0};
constexpr model_id second{1};

model_phases two_in_training() {
  model_phases phases;
  phases.add(named("a"), model_phase::training);
  phases.add(named("b"), model_phase::training);
  return phases;
}

}  // namespace

TEST_CASE("a model's memory is released once, when it has left and no unit of it is on a device") {
  const auto how = GENERATE(model_phase::paused, model_phase::finished, model_phase::stopped, model_phase::failed);
  auto phases = two_in_training();
  CHECK_FALSE(phases.release(first));
  phases.drained(first);
  CHECK_FALSE(phases.release(first));
  CHECK(phases.end(first, how));
  CHECK(phases.memory_is_coming_back());
  const auto release = phases.release(first);
  REQUIRE(release);
  CHECK(release->paused == (how == model_phase::paused));
  CHECK(release->finished == (how == model_phase::finished || how == model_phase::stopped));
  CHECK_FALSE(phases.release(first));
  phases.released(first);
  CHECK(phases.releases() == 1);
  CHECK(phases.without_memory() == std::set{first});
  CHECK_FALSE(phases.memory_is_coming_back());
}

TEST_CASE("a model ends once, and a paused one may still end") {
  auto phases = two_in_training();
  CHECK(phases.end(first, model_phase::paused));
  CHECK(phases.end(first, model_phase::stopped));
  CHECK_FALSE(phases.end(first, model_phase::failed));
  CHECK(phases.of(first) == model_phase::stopped);
}

TEST_CASE("a model that is admitted again is in training with nothing due, and keeps its name and description") {
  auto phases = two_in_training();
  phases.is_due(first, due_command::stop);
  phases.drained(first);
  phases.end(first, model_phase::stopped);
  phases.reopens(first);
  phases.waits(first);
  phases.admitted(first);
  CHECK(phases.admissions(first) == 2);
  CHECK(phases.of(first) == model_phase::training);
  CHECK_FALSE(phases.stops(first));
  CHECK_FALSE(phases.release(first));
  CHECK(phases.name_of(first) == "a");
  REQUIRE(phases.description(first) != nullptr);
  phases.forget(first);
  CHECK(phases.description(first) == nullptr);
  CHECK(phases.name_of(first) == "a");
}

TEST_CASE("a command that is due is taken back once, and by its own name") {
  auto phases = two_in_training();
  phases.is_due(first, due_command::resume);
  CHECK_FALSE(phases.take_back(first, due_command::stop));
  CHECK(phases.take_back(first, due_command::resume));
  CHECK_FALSE(phases.take_back(first, due_command::resume));
  phases.is_due(second, due_command::stop);
  CHECK(phases.stops(second));
  phases.pauses(second);
  CHECK_FALSE(phases.stops(second));
}

TEST_CASE("a trial waits for its decision in training, or paused for others, until it ends") {
  auto phases = two_in_training();
  phases.set_trial(first, trial_wait::with_memory);
  CHECK(phases.waits_for_decision(first));
  CHECK(phases.trials(trial_wait::with_memory) == std::vector{first});
  phases.end(first, model_phase::paused);
  CHECK_FALSE(phases.waits_for_decision(first));
  phases.set_trial(second, trial_wait::paused);
  phases.pauses(second);
  phases.end(second, model_phase::paused);
  CHECK(phases.waits_for_decision(second));
  phases.end(second, model_phase::stopped);
  CHECK_FALSE(phases.waits_for_decision(second));
}

TEST_CASE("only a command continues a run when one model is paused by it and the others wait for decisions") {
  auto phases = two_in_training();
  CHECK_FALSE(phases.wait_for_command());
  phases.pauses(first);
  phases.end(first, model_phase::paused);
  CHECK_FALSE(phases.wait_for_command());  // the second one is trained
  phases.set_trial(second, trial_wait::with_memory);
  CHECK(phases.wait_for_command());
  phases.is_due(first, due_command::resume);
  CHECK_FALSE(phases.wait_for_command());
  phases.take_back(first, due_command::resume);
  phases.set_trial(first, trial_wait::paused);  // paused for others, not by command
  CHECK_FALSE(phases.wait_for_command());
}
