#include "tests/support/depth.hpp"
#include "tests/support/fuzzer.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

/// The workload of the seed, saved into `store` and started from `begins`.
simulation_setup setup_of(std::uint32_t seed, memory_store& store, std::vector<model_checkpoint> begins) {
  auto setup = make_case(seed).setup;
  setup.checkpoints = {.store = &store, .every_steps = seed % 3, .every = {}};
  setup.resumed = std::move(begins);
  return setup;
}

/// Random order of messages; interrupted after message `at` (0: not). Empty, or what went wrong. (A unit that was
/// placed in the moment of the interruption may still be on its device at the end.)
std::string run(simulation& s, std::mt19937& random, std::size_t at) {
  constexpr std::size_t limit = 200'000;
  std::size_t n = 0;
  while (n < limit && s.step(random())) {
    if (++n == at) {
      post(s.actors().supervisor, interrupt_run{});
    }
  }
  if (!s.record()) {
    return n == limit ? "no end" : "the run hangs: no record";
  }
  return at == 0 ? s.record()->leftovers : "";
}

/// Of each model one of its checkpoints: the newest, or as often any other, for all of them are true.
std::vector<model_checkpoint> some_checkpoints(memory_store& store, const std::vector<simulated_model>& models,
                                               std::mt19937& random) {
  std::vector<model_checkpoint> all;
  for (const auto& m : models) {
    const auto& known = store.of(m.name);
    const model_memory fresh{.homes = homes_without_bytes(make_simulated_model(m)->plan), .versions = {}};
    all.push_back(known.empty()       ? model_checkpoint{.what = {}, .memory = fresh, .standing = {}}
                  : random() % 2 == 0 ? known.back()
                                      : known[random() % known.size()]);
  }
  return all;
}

/// Some checkpoint of every model has all of its steps and evaluations, and no update under way. (Not always the
/// newest: runs start from older ones, too.)
std::string not_saved(memory_store& store, const std::vector<simulated_model>& models) {
  for (const auto& m : models) {
    const auto complete = [&](const model_checkpoint& c) {
      const auto& history = c.standing.history;
      return c.standing.next.step == m.steps && c.memory.at_step_begin() && history.losses.size() == m.steps &&
             history.evaluations.size() == evaluations_of(m);
    };
    if (std::ranges::none_of(store.of(m.name), complete)) {
      return m.name + " is not saved at its end";
    }
  }
  return {};
}

/// The state of the first evaluation is kept apart, the only one that is better than all before: simulated losses are
/// equal. A run that was interrupted before that was saved has not reported the evaluation either.
std::string best_not_saved(memory_store& store, const std::vector<simulated_model>& models) {
  for (const auto& m : models) {
    const auto& best = store.best_of(m.name);
    if (best.empty() != !m.keep_best) {
      return m.name + (best.empty() ? " has no best state" : " has a best state that was not requested");
    }
    const auto first = m.evaluation.every > 0 ? std::min(m.evaluation.every, m.steps) : m.steps;
    const auto is_first = [&](const model_checkpoint& c) {
      return c.best && c.memory.at_step_begin() && c.memory.step() == first &&
             c.standing.history.evaluations.size() == 1;
    };
    if (!std::ranges::all_of(best, is_first)) {
      return m.name + "'s best state is not that of its first evaluation";
    }
  }
  return {};
}

/// Runs the workload of the seed with up to three interruptions. Empty, or what went wrong.
std::string interrupt_and_resume(std::uint32_t seed) {
  std::mt19937 random(seed);
  memory_store store;
  const auto models = make_case(seed).setup.models;
  std::vector<model_checkpoint> begins;
  for (int interruptions = 0; interruptions < 3; ++interruptions) {
    simulation s(setup_of(seed, store, begins));
    if (auto wrong = run(s, random, 1 + random() % 600); !wrong.empty()) {
      return fmt::format("seed {}, interruption {}: {}", seed, interruptions, wrong);
    }
    begins = some_checkpoints(store, models, random);
  }
  simulation s(setup_of(seed, store, begins));
  auto wrong = run(s, random, 0);
  wrong = wrong.empty() ? unfinished(s, models) : wrong;
  wrong = wrong.empty() ? out_of_order(s, models, begins) : wrong;
  wrong = wrong.empty() ? not_saved(store, models) : wrong;
  wrong = wrong.empty() ? best_not_saved(store, models) : wrong;
  return wrong.empty() ? wrong : fmt::format("seed {}, last run: {}", seed, wrong);
}

}  // namespace

TEST_CASE("whatever the order of messages, an interrupted run is saved and continues from any of its checkpoints",
          "[fuzz]") {
  for (const std::uint32_t seed : seeds(1500)) {
    REQUIRE(interrupt_and_resume(seed) == "");
  }
}

TEST_CASE("more interrupted runs continue from any of their checkpoints", "[.deep]") {
  for (std::uint32_t seed = 10'001; seed <= 60'000; ++seed) {
    REQUIRE(interrupt_and_resume(seed) == "");
  }
}
