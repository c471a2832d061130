#include "actors/session/session.hpp"

#include "models/families/mlp/mlp.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/outfitted_device.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using Catch::Contains;
using hydra::test::temporary_folder;

namespace {

/// 512 batches an epoch.
model_description small(std::uint32_t epochs) {
  return {.name = "small",
          .chain = mlp({.layers = 1, .width = 8}),
          .data = {synthetic_classes{.samples = 4096}},
          .batch_size = 8,
          .epochs = epochs,
          .optimizer = sgd({.learning_rate = 0.1})};
}

/// Computing takes far longer than copies and updates, and gradients are most of what replicas need.
void add_slow_devices(session& s) {
  s.add_devices(2, cpu_device{.memory = 8_MiB, .link = 10_GiB_per_s, .speed = 0.02});
}

/// Cut in one way: the host memory that it needs does not depend on what the pilot has measured.
model_description divided(parallel_options parallel) {
  auto m = small(0);
  m.chain = mlp({.layers = 4, .width = 256});
  m.cuts = cut_points{0, 2};
  m.batch_size = 32;
  m.micro_batches = 2;
  m.validate = validation_options{.batches = 1};
  m.steps = 4;
  m.parallel = parallel;
  return m;
}

/// A plan that leaves the replicas to the planner.
model_plan chosen_within(byte_count host_memory) {
  session s{{.host_memory = host_memory, .log = verbosity::quiet}};
  add_slow_devices(s);
  s.add_model(divided({.replicas = 0}));
  return s.plan().models.front();
}

}  // namespace

TEST_CASE("a session says what steps in parallel would bring") {
  session s{{.log = verbosity::quiet}};
  add_slow_devices(s);
  s.add_model(divided({}));
  const auto ways = s.compare_parallel();
  REQUIRE(ways.size() == 3);
  CHECK(ways[0].choice.models == std::vector{model_way{{1, 1}}});
  CHECK(ways[0].host == s.plan().host_needed);
  CHECK(ways[1].choice.models == std::vector{model_way{{2, 1}}});
  CHECK(ways[1].host > ways[0].host);
  CHECK(seconds(ways[1].expected.makespan) < seconds(ways[0].expected.makespan) * 0.8);
  CHECK(ways[2].choice.models == std::vector{model_way{{1, 2}}});
  CHECK(s.plan().models.front().replicas == 1);
}

TEST_CASE("the planner chooses what is left to it: the fastest that fits into host memory") {
  CHECK(chosen_within({}).replicas == 2);
  session whole{{.log = verbosity::quiet}};
  add_slow_devices(whole);
  whole.add_model(divided({}));
  CHECK(chosen_within(whole.plan().host_needed).replicas == 1);
}

TEST_CASE("the planner chooses waves and shards for each model, at least as fast as the same ones for all") {
  session s{{.log = verbosity::quiet}};
  add_slow_devices(s);
  for (const std::uint32_t steps : {6U, 2U}) {
    auto m = small(0);
    m.name = std::to_string(steps);
    m.chain = mlp({.layers = 6, .width = 32 * static_cast<std::int64_t>(steps)});
    m.batch_size = 32;
    m.micro_batches = 4;
    m.steps = steps;
    m.parallel = {.replicas = 1, .waves = 0};
    s.add_model(m);
  }
  const auto ways = s.compare_parallel();
  REQUIRE(ways.size() > 2);
  for (const auto& w : ways) {
    if (w.choice.asked.parallel.replicas == 1) {
      CHECK(seconds(ways.front().expected.makespan) <= 1.03 * seconds(w.expected.makespan));
    }
  }
  for (const auto& m : s.plan().models) {
    CHECK(m.replicas == 1);
    CHECK((m.waves > 1 || m.shards.size() == 1));
  }
}

TEST_CASE("a model whose name is too long for the folder of its checkpoints is refused when it is added") {
  session s{{.log = verbosity::quiet}};
  auto m = small(1);
  m.name = std::string(86, ' ');
  CHECK_THROWS_WITH(s.add_model(m), Contains("name: the folder of its checkpoints would have a name of 258 bytes"));
}

TEST_CASE(
    "a layer that the host cannot hold is refused before it is measured, with its bytes or as more than can be "
    "counted") {
  const auto refusal = [](std::int64_t width) {
    session s{{.log = verbosity::quiet}};
    s.add_devices(1, cpu_device{.memory = 16_MiB});
    auto m = small(1);
    m.chain = mlp({.layers = 1, .width = width});
    s.add_model(m);
    try {
      s.plan();
    } catch (const fault_error& e) {
      CHECK(e.what_happened().code == fault_code::does_not_fit);
      return e.what_happened().text;
    }
    return std::string{};
  };
  CHECK_THAT(refusal(10'000'000'000'000),
             Contains("model 'small': layer 0 (") && Contains(" TiB") && Contains("make the layer smaller"));
  CHECK_THAT(refusal(std::numeric_limits<std::int64_t>::max()),
             Contains("layer 0 (") && Contains("more bytes than can be counted"));
}

TEST_CASE("a layer that devices have no memory to measure is refused with what can be done") {
  session s{{.log = verbosity::quiet}};
  s.add_device("cpu", [](const std::string& name) -> std::unique_ptr<device> {
    const auto none_free = []() -> std::unique_ptr<work_meter> { throw std::bad_alloc{}; };
    return std::make_unique<test::outfitted_device>(make_cpu_device(name, {.memory = 16_MiB}),
                                                    test::outfit{.meter = none_free});
  });
  s.add_model(small(1));
  CHECK_THROWS_WITH(s.plan(), Contains("model 'small': a layer of it cannot be measured: the host refused") &&
                                  Contains("use more micro_batches"));
}

TEST_CASE("epochs that make more steps than can be counted are refused") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 16_MiB});
  s.add_model(small(8'388'608));  // times 512: one too many
  CHECK_THROWS_WITH(
      s.plan(), Contains("model 'small': epochs: 8388608 epochs of 512 batches are more steps than can be counted"));
}

TEST_CASE("more validation samples than micro-batches can be counted are refused, not wrapped") {
  auto m = small(1);
  m.data = {synthetic_classes{.validation_samples = (std::int64_t{1} << 32) + 1}};
  m.batch_size = 1;
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 8_MiB});
  s.add_model(m);
  CHECK_THROWS_WITH(s.plan(), Contains("4294967297 validation samples"));
}

TEST_CASE("as many epochs as can be counted are planned") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 16_MiB});
  s.add_model(small(8'388'607));
  CHECK(s.plan().models.size() == 1);
}

TEST_CASE("models that were stopped in an earlier part of a run end when the next one begins") {
  session s{{.log = verbosity::quiet, .stopped = {"endless", "gone"}}};
  s.add_devices(1, cpu_device{.memory = 16_MiB});
  auto endless = small(0), other = small(0);
  endless.name = "endless";
  endless.steps = 1'000'000;
  other.steps = 3;
  s.add_model(endless);
  s.add_model(other);
  const auto r = s.run();
  CHECK(r.models[0].status == model_status::stopped);
  CHECK(r.models[1].status == model_status::finished);
}

TEST_CASE("a report has the memory of the process and of the trace; without a folder there is no trace") {
  const temporary_folder folder;
  const auto trained = [](const std::filesystem::path& output) {
    session s{{.output = output, .log = verbosity::quiet}};
    s.add_devices(1, cpu_device{.memory = 16_MiB});
    auto model = small(0);
    model.steps = 1;
    s.add_model(model);
    return s.run();
  };
  const auto kept = trained(folder.path()), gone = trained({});
  CHECK(kept.process_peak > 1_MiB);
  CHECK(kept.trace > 0_B);
  CHECK(gone.process_peak > 1_MiB);
  CHECK(gone.trace == 0_B);
}

TEST_CASE("a callback that throws is not called again, the others are, and a note of the report says so") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 16_MiB});
  auto model = small(0);
  model.steps = 4;
  s.add_model(model);
  int failing = 0, healthy = 0;
  s.on<step_completed>([&](const step_completed& e, control& c) {
    ++failing;
    if (e.done == 2) {
      c.stop(e.model);  // not followed
      throw std::runtime_error("no");
    }
  });
  s.on<step_completed>([&](const step_completed&, control&) { ++healthy; });
  const auto r = s.run();
  CHECK(r.all_finished());
  CHECK(failing == 2);
  CHECK(healthy == 4);
  CHECK(r.callbacks_lost == "a callback failed after step 2 of small: no; it is not called any more");
  CHECK(r.notes == std::vector{r.callbacks_lost});
}

TEST_CASE("a run answers from its first event on; what it takes with it is not changed any more") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 16_MiB});
  auto model = small(0);
  model.steps = 1;
  s.add_model(model);
  const auto why = [](const auto& change) {
    try {
      change();
    } catch (const fault_error& e) {
      return to_string(e.what_happened().code) + ": " + e.what_happened().text;
    }
    return std::string{};
  };
  const auto subscribe = [&] { s.on<device_lost>([](const device_lost&, control&) {}); };
  std::vector<std::string> during;
  run_status status;
  CHECK(why(subscribe) == "");
  s.on<run_begun>([&](const run_begun& e, control&) {
    status = s.status();
    CHECK(e.models == std::vector<std::string>{"small"});
    during = {why(subscribe), why([&] { s.use_policy("lpt"); }), why([&] { s.use_search({}); })};
  });
  const auto r = s.run();
  CHECK(r.notes == std::vector<std::string>{});
  REQUIRE(status.models.size() == 1);
  CHECK(status.models[0].phase == model_phase::training);
  CHECK(during == std::vector<std::string>{
                      "refused: session::on: callbacks are set before run(), and this run has begun",
                      "refused: session::use_policy: a policy is set before run(), and this run has begun",
                      "refused: session::use_search: a search is set before run(), and this run has begun",
                  });
  CHECK_THAT(why(subscribe), Contains("this run has ended"));
  CHECK_THAT(why([&] { s.on<run_begun>(nullptr); }), Contains("the callback is empty"));
}

TEST_CASE("a callback pauses its model and another one resumes it, with the result of an undisturbed run") {
  auto model = small(0);
  model.steps = 6;
  const auto trained = [&model](const std::filesystem::path& folder, const std::function<void(session&)>& set_up) {
    session s{{.output = folder, .log = verbosity::quiet}};
    s.add_devices(1, cpu_device{.memory = 16_MiB});
    s.add_model(model);
    set_up(s);
    return s.run();
  };
  const temporary_folder calm, disturbed;
  bool paused = false;
  int resumed = 0;
  const auto expected = trained(calm.path(), [](session&) {});
  const auto r = trained(disturbed.path(), [&](session& s) {
    s.on<step_completed>([&](const step_completed& e, control&) {
      if (e.done == 3 && !std::exchange(paused, true)) s.pause(e.name);
    });
    s.on<model_paused>([&](const model_paused& e, control&) {
      ++resumed;
      CHECK(e.done == 3);
      s.resume(e.name);
    });
  });
  CHECK(resumed == 1);
  CHECK(r.notes == std::vector<std::string>{});
  REQUIRE(r.all_finished());
  CHECK(r.models[0].loss == expected.models[0].loss);
  CHECK(r.models[0].digest == expected.models[0].digest);
}

TEST_CASE("a device that a program cannot make is named", "[device]") {
  const auto refusal = [](const session::device_factory& factory) {
    session s{{.log = verbosity::quiet}};
    s.add_device("board", factory);
    s.add_model(small(1));
    try {
      s.plan();
    } catch (const fault_error& e) {
      return to_string(e.what_happened().code) + ": " + e.what_happened().text;
    }
    return std::string{};
  };
  CHECK(refusal([](const std::string&) { return nullptr; }) ==
        "bad input: device board:0 cannot be made: its factory has returned none");
  CHECK(refusal([](const std::string&) -> std::unique_ptr<device> { throw std::runtime_error("no power"); }) ==
        "bad input: device board:0 cannot be made: no power");
  CHECK_THROWS_WITH(refusal({}), Contains("device of kind \"board\": its factory is empty"));
}

TEST_CASE("a session that is destroyed during its run interrupts the run, and waits until it has ended") {
  auto s = std::make_unique<session>(session_options{.log = verbosity::quiet});
  s->add_devices(1, cpu_device{.memory = 16_MiB});
  s->add_model(small(1000));
  std::promise<void> begun;
  s->on<run_begun>([&](const run_begun&, control&) { begun.set_value(); });
  auto run = std::async(std::launch::async, [of = s.get()] { return of->run(); });
  begun.get_future().wait();
  s.reset();
  CHECK(run.get().interrupted);
}

TEST_CASE("parameters are refused before the run, during the run, and of a model that it did not have") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 16_MiB});
  auto model = small(0);
  model.steps = 1;
  s.add_model(model);
  CHECK_THROWS_WITH(s.parameters(model_id{0}), Contains("run() has not been called"));
  std::string during;
  s.on<step_completed>([&](const step_completed& e, control&) {
    try {
      s.parameters(e.model);
    } catch (const fault_error& why) {
      during = why.what();
    }
  });
  s.run();
  CHECK_THAT(during, Contains("run() has not returned yet"));
  CHECK_FALSE(s.parameters(model_id{0}).empty());
  CHECK_THROWS_WITH(s.parameters(model_id{1}), Contains("the run had 1 model") && Contains("id 1"));
}

TEST_CASE("minutes between checkpoints that are out of range are refused") {
  const double minutes =
      GENERATE(-1.0, 1e9, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN());
  CHECK_THROWS_WITH(session({.checkpoint = {.every_minutes = minutes}}),
                    Contains("checkpoint.every_minutes: ") && Contains("use 0"));
}
