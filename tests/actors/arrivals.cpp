// Models that take part later than the start of the run, under virtual time.

#include "tests/support/memory_store.hpp"
#include "tests/support/overhear.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

simulated_model arriving(const std::string& name, duration arrival, std::uint32_t steps = 2) {
  auto m = even_model(name, 2, steps, 2ms, 1ms);
  m.terms.arrival = arrival;
  return m;
}

time_point first_begin(simulation& s, const std::string& model) {
  for (const auto& x : spans_of(s, "execute_shard")) {
    if (x.detail.starts_with(model + " ")) {
      return x.begin;
    }
  }
  return {};
}

}  // namespace

TEST_CASE("a model takes part from its arrival on, not before", "[arrivals]") {
  const std::vector models{arriving("early", 0ms, 20), arriving("late", 31ms)};
  const auto s = finished(even_run(models, 2));
  const auto& r = *s->record();
  CHECK(unfinished(*s, models) == "");
  CHECK(first_begin(*s, "early") == r.began + 1ms);  // its parameters have to be copied
  CHECK(first_begin(*s, "late") == r.began + 32ms);
}

TEST_CASE("the makespan counts from the first prefetch, whenever that is", "[arrivals]") {
  const auto now = finished(even_run({arriving("m", 0ms)}, 1));
  const auto later = finished(even_run({arriving("m", 1h)}, 1));
  CHECK(makespan(*later) == makespan(*now));
  CHECK(later->record()->first_prefetch == later->record()->began + 1h);
}

TEST_CASE("the scheduler learns of a model when it arrives, with priority and deadline", "[arrivals]") {
  auto m = arriving("m", 5ms);
  m.terms.priority = 3;
  m.terms.deadline = 9ms;
  simulation s(even_run({m}, 1));
  std::optional<model_added> notified;
  time_point at;
  do {
    const auto message = overhear(s);
    if (const auto* added = message ? message->get<model_added>() : nullptr) {
      notified = *added;
      at = s.now();
    }
  } while (s.step());
  REQUIRE(notified);
  CHECK(notified->traits.priority == 3);
  CHECK(notified->traits.deadline == s.record()->began + 9ms);
  CHECK(at == s.record()->began + 5ms);
}

namespace {

/// Takes the first candidate and records what it sees of model 0.
class asking_policy final : public policy {
 public:
  explicit asking_policy(std::vector<model_state>& reported) : reported_(reported) {}
  std::string name() const override { return "asking"; }
  std::optional<std::size_t> choose(const device_state&, std::span<const candidate>, const policy_view& view) override {
    reported_.push_back(view.models.front());
    return 0;
  }

 private:
  std::vector<model_state>& reported_;
};

}  // namespace

TEST_CASE("a policy sees priority and deadline of a model", "[arrivals]") {
  auto m = arriving("m", 5ms);
  m.terms.priority = 3;
  m.terms.deadline = 9ms;
  std::vector<model_state> reported;
  auto setup = even_run({m}, 1);
  setup.chosen = std::make_unique<asking_policy>(reported);
  const auto s = finished(std::move(setup));
  REQUIRE(!reported.empty());
  CHECK(reported[0].priority == 3);
  CHECK(reported[0].deadline == s->record()->began + 9ms);
}

TEST_CASE("a run that only waits for a model to arrive does not count as stalled", "[arrivals]") {
  auto setup = even_run({arriving("early", 0ms), arriving("late", 1h)}, 1);
  setup.stall_limit = 1s;
  const auto s = finished(std::move(setup));
  CHECK(s->record()->aborted.text == "");
  CHECK(s->record()->models[1].steps == 2);
}

namespace {

/// Its late model is paused at once, and resumed.
std::unique_ptr<simulation> paused_before_arrival(const std::vector<simulated_model>& models, checkpoint_store& store,
                                                  memory_store& saved) {
  auto setup = even_run(models, 2);
  setup.checkpoints = {.store = &store, .every_steps = 0, .every = {}};
  setup.saved = [&saved](const std::string& model) { return std::optional(saved.of(model).back()); };
  auto s = std::make_unique<simulation>(std::move(setup));
  for (int i = 0; i < 20; ++i) {
    s->step();
  }
  s->steer("late", model_command::pause);
  while (s->answers().empty() && s->step()) {
  }
  s->steer("late", model_command::resume);
  s->run();
  return s;
}

}  // namespace

TEST_CASE("a model that is paused before it arrives takes part from its arrival on, not from when it is resumed",
          "[arrivals]") {
  const std::vector models{arriving("early", 0ms, 20), arriving("late", 31ms)};
  memory_store store;
  const auto s = paused_before_arrival(models, store, store);
  REQUIRE(s->answers().size() == 2);
  REQUIRE(s->answers()[0].text == "");
  REQUIRE(s->answers()[1].text == "");
  REQUIRE(store.of("late").size() == 2);  // paused, and at its end
  CHECK(store.of("late")[0].standing.next.step == 0);
  CHECK(unfinished(*s, models) == "");
  CHECK(first_begin(*s, "late") == s->record()->began + 32ms);
}

TEST_CASE("so does one that could not be saved to be paused", "[arrivals]") {
  const std::vector models{arriving("early", 0ms, 20), arriving("late", 31ms)};
  full_disk disk;
  memory_store none;
  const auto s = paused_before_arrival(models, disk, none);
  REQUIRE(s->answers().front().text.find("no space left") != std::string::npos);
  CHECK(unfinished(*s, models) == "");
  CHECK(first_begin(*s, "late") == s->record()->began + 32ms);
}

TEST_CASE("a run that is interrupted before a model arrives ends, and the model is saved in its initial state",
          "[arrivals]") {
  const std::vector models{arriving("early", 0ms, 3), arriving("late", 1h)};
  memory_store store;
  auto setup = even_run(models, 1);
  setup.checkpoints.store = &store;
  simulation s(std::move(setup));
  for (int i = 0; i < 40; ++i) {
    s.step();
  }
  post(s.actors().supervisor, interrupt_run{});
  while (!s.record() && s.step()) {
  }
  REQUIRE(s.record());
  CHECK(s.now() < s.record()->began + 1min);
  CHECK(s.record()->models[1].why.code == fault_code::interrupted);
  REQUIRE(store.of("late").size() == 1);
  CHECK(store.of("late")[0].standing.next.step == 0);
}
