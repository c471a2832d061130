// The first steps of a session's models, trained before it is predicted.

#include "actors/admission/rehearsal.hpp"

#include "actors/policy/catalog.hpp"
#include "actors/session/hydra.hpp"
#include "runtime/base/interrupt_flag.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace std::chrono_literals;

namespace rehearsal_test {

model_description small(const std::string& name, std::uint32_t steps) {
  return {.name = name,
          .chain = mlp({.layers = 4, .width = 32}),
          .data = {synthetic_classes{.validation_samples = 64}},
          .batch_size = 8,
          .micro_batches = 2,
          .steps = steps,
          .optimizer = adamw({.learning_rate = 1e-3}),
          .validate = validation_options{.every_steps = 2}};
}

struct two_models : session {
  explicit two_models(std::uint32_t steps) : session{{.log = verbosity::quiet}} {
    add_devices(2, cpu_device{.memory = 64_KiB});
    auto a = small("a", steps);
    a.optimizer.schedule = {.warmup = 4};
    add_model(a);
    add_model(small("b", steps));
  }
};

/// One model on one device, planned, and a made-up rehearsal of it.
struct made_up {
  session_options options{.log = verbosity::quiet};
  std::vector<model_description> models{small("m", 40)};
  std::vector<device_entry> devices{
      {"cpu", [](const std::string& name, device_use) { return make_cpu_device(name, {.memory = 1_MiB}); }}};
  interrupt_flag interrupts;
  planning_setup from{options, models, devices, interrupts, make_logger(verbosity::quiet)};
  planned_run run{.planned = {}, .from = from, .devices = {}, .make_policy = {}};

  made_up() {
    models.front().validate.reset();
    models.front().data = {synthetic_classes{.validation_samples = 0}};
    run.planned = plan_workload(from);
    run.devices = run.planned.machines;
    run.make_policy = [] { return make_policy("fifo", 0); };
  }

  planned_run part(std::uint32_t steps) const {
    auto first = run;
    first.planned = first_steps(run.planned, steps);
    return first;
  }

  /// The whole model fits, so that a step is one backward visit of each of its shards, in two micro-batches; `first`:
  /// of step 0, `later`: of the others.
  std::vector<span> spans(std::uint32_t steps, duration first, duration later) const {
    std::vector<span> all;
    for (std::uint32_t step = 0; step < steps; ++step) {
      for (int k = 0; k < 2; ++k) {
        all.push_back({"execute_shard",
                       "cpu:0 compute",
                       {},
                       time_point{step == 0 ? first : later},
                       fmt::format("m backward 0 step {} micro-batch {}", step, k)});
      }
      all.push_back({"step_shard", "host optimizer", {}, time_point{1ms}, fmt::format("update of m 0 step {}", step)});
    }
    return all;
  }
};

TEST_CASE("shards take the means of a rehearsal without its first step", "[rehearsal]") {
  const made_up w;
  REQUIRE(w.run.planned.plan.models[0].shards.size() == 1);
  const auto part = w.part(3);
  CHECK(part.planned.prepared[0].steps == 3);
  const auto r = rehearsed_by(w.spans(3, 50ms, 2ms), 100ms, part);
  const auto shard = with_times_of(r, w.run).planned.plan.models[0].shards[0];
  CHECK(shard.backward_time == 2 * 2ms);
  CHECK(shard.update_time == 1ms);
  CHECK(r.summary.steps == 3);
  CHECK(r.summary.spread == 0);
}

TEST_CASE("a prediction has the overhead of its rehearsal over the simulation of the same steps", "[rehearsal]") {
  const made_up w;
  const auto part = w.part(3);
  const auto predicted = [&](const rehearsal& r) {
    auto by_it = w.run;
    by_it.rehearsed = &r;
    return predict(by_it, by_it.make_policy()).makespan;
  };
  const auto spans = w.spans(3, 2ms, 2ms);
  const auto hasty = rehearsed_by(spans, 1ms, part);
  CHECK(hasty.summary.overhead == 1);  // no run is faster than its simulation
  const auto slow = rehearsed_by(spans, 60ms, part);
  CHECK(slow.summary.overhead > 60.0 / (3 * (2 * 2.0 + 1) + 1));
  CHECK(slow.summary.overhead <= 60.0 / (3 * (2 * 2.0 + 1)));
  CHECK(predicted(hasty) >= 40 * (2 * 2ms + 1ms));
  const auto working = 40 * 2 * 2e-3;  // the rest is the wait for updates
  CHECK(seconds(predicted(slow)) == Approx(seconds(predicted(hasty)) + working * (slow.summary.overhead - 1)));
}

TEST_CASE("a rehearsal trains no more than the first steps, and has no effect on the run after it", "[rehearsal]") {
  two_models alone{6};
  const auto expected = alone.run();
  two_models s{6};
  const auto by_the_pilot = s.predict().makespan;
  CHECK(s.predict().makespan == by_the_pilot);
  const auto rehearsed = s.rehearse(3);
  CHECK(rehearsed.steps == 3);
  CHECK(rehearsed.makespan > duration{});
  CHECK(s.predict().makespan != by_the_pilot);
  const auto r = s.run();
  REQUIRE(r.all_finished());
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(r.models[i].steps == 6);
    CHECK(r.models[i].digest == expected.models[i].digest);
  }
}

TEST_CASE("a model that has fewer steps is rehearsed to its end; one step is too few", "[rehearsal]") {
  two_models s{5};
  CHECK(s.rehearse(7).steps == 5);
  CHECK_THROWS_WITH(s.rehearse(1), Catch::Contains("at least 2 steps"));
}

TEST_CASE("models that begin paused are rehearsed, too", "[rehearsal]") {
  const test::temporary_folder folder;
  session s{{.output = folder.path() / "run", .log = verbosity::quiet, .begin_paused = true}};
  s.add_devices(1, cpu_device{.memory = 64_KiB});
  s.add_model(small("a", 4));
  CHECK(s.rehearse(2).steps == 2);
}

TEST_CASE("models that wait for memory are rehearsed, too", "[rehearsal]") {
  session s{{.host_memory = 200_KiB, .log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 64_KiB});
  for (const char* name : {"a", "b", "c", "d"}) {
    auto m = small(name, 40);
    m.optimizer.schedule = {.warmup = 20};
    s.add_model(m);
  }
  REQUIRE(!s.plan().waiting.empty());
  CHECK(s.rehearse(3).steps == 3);
}

}  // namespace rehearsal_test
