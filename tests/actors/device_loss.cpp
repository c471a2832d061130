// A device is lost, or an operation fails, at every single moment of a small run.

#include "actors/simulation/simulated_device.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/disturbed_run.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/overhear.hpp"
#include "tests/support/small_run.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

void kill(simulation& s, std::size_t device) {
  caf::anon_send_exit(s.actors().devices[device], caf::exit_reason::kill);
}

void declare_lost(simulation& s, std::size_t device) {
  post(s.actors().memory,
       device_lost{device_id{static_cast<std::uint32_t>(device)}, {fault_code::device_lost, "declared lost"}});
}

simulation_setup run_of(const std::vector<simulated_model>& models, std::uint32_t slots) {
  auto setup = small_run(2, slots);
  setup.models = models;
  return setup;
}

/// All models finish, each unit committed once and in order, whichever device is lost at whichever message; `stride`:
/// only each so-manyth message, but in deep runs.
void lose_at_every_message(void (*lose)(simulation&, std::size_t), std::uint32_t slots,
                           const std::vector<simulated_model>& models = small_models(), std::size_t stride = 1) {
  const std::size_t step = is_deep() ? 1 : stride;
  for (std::size_t victim = 0; victim < 2; ++victim) {
    std::size_t messages = std::numeric_limits<std::size_t>::max();
    for (std::size_t at = test_seed() % step; at < messages; at += step) {
      INFO("device " << victim << " is lost at message " << at);
      simulation s(run_of(models, slots));
      std::string complaint;
      messages = run_disturbed(
          s, at, [&] { lose(s, victim); }, slots, complaint);
      REQUIRE(complaint == "");
      REQUIRE(unfinished(s, models) == "");
      REQUIRE(out_of_order(s, models) == "");
    }
  }
}

}  // namespace

// -- devices ----------------------------------------------------------------------------------------------------------

TEST_CASE("a device may die at any message", "[loss]") { lose_at_every_message(kill, 1); }
TEST_CASE("a device with four slots may die at any message", "[loss]") { lose_at_every_message(kill, 4); }
TEST_CASE("a device may be declared lost at any message and still send messages", "[loss]") {
  lose_at_every_message(declare_lost, 1);
}
TEST_CASE("a device with four slots may be declared lost at any message", "[loss]") {
  lose_at_every_message(declare_lost, 4);
}

TEST_CASE("a device may die at any message while models in four waves are trained", "[loss]") {
  auto models = small_models();
  for (auto& m : models) {
    m.waves = 4;
    m.micro_batches *= 4;
  }
  models.front().replicas = 2;
  models.front().micro_batches *= 2;
  lose_at_every_message(kill, 1, models, 7);
}

TEST_CASE("when the last device dies the run ends and every model reports why", "[loss]") {
  for (std::size_t at = 0, messages = 1; at < messages; ++at) {
    INFO("message " << at);
    simulation s(small_run(1, 1));
    std::string complaint;
    messages = run_disturbed(
        s, at, [&] { kill(s, 0); }, 1, complaint);
    REQUIRE(s.record());
    for (const auto& m : s.record()->models) {
      REQUIRE(m.ended);
      const bool finished = !m.why && m.steps == 2;
      REQUIRE((finished || m.why.code == fault_code::device_lost));
      REQUIRE((finished || m.why.text == "the last device is gone: the device is gone"));
    }
  }
}

TEST_CASE("devices may die one after the other", "[loss]") {
  const auto models = small_models();
  for (std::size_t at = 20; at < 200; at += 3) {
    INFO("message " << at);
    simulation s(small_run(3, 1));
    for (std::size_t n = 0; s.step(); ++n) {
      if (n == at || n == at + at / 2) {
        kill(s, n == at ? 0 : 1);
      }
    }
    REQUIRE(unfinished(s, models) == "");
    REQUIRE(out_of_order(s, models) == "");
  }
}

// -- operations -------------------------------------------------------------------------------------------------------

namespace {

/// The `n`-th operation of a queue fails; with `again`, so does the same operation of the next attempt.
struct failure {
  queue_kind queue;
  std::size_t n = 0;
  fault_code code = fault_code::out_of_memory;
  bool again = false;
};

struct failed_run {
  std::unique_ptr<simulation> s;
  std::string complaint;
  std::size_t operations = 0;  ///< of that queue
  std::string victim;          ///< name of the model whose operation failed
};

/// "demote_shard gradients of a backward 1 step 0" -> "a".
std::string model_of(const operation& op) {
  const auto of = op.label.detail.find(" of ");
  return op.label.detail.substr(of == std::string::npos ? 0 : of + 4, 1);
}

failed_run run_with(const failure& f) {
  failed_run r;
  auto setup = small_run(2, 1);
  r.s = std::make_unique<simulation>(std::move(setup));
  std::string failed;
  for (std::size_t i = 0; i < 2; ++i) {
    r.s->device_at(i).inject([&](queue_kind queue, const operation& op) {
      if (queue != f.queue) {
        return fault{};
      }
      const auto detail = std::string(op.label.name) + " " + op.label.detail;
      const bool now = r.operations++ == f.n;
      const bool repeats = f.again && !failed.empty() && detail == failed;
      if (now) {
        failed = detail;
        r.victim = model_of(op);
      }
      return now || repeats ? fault{f.code, "injected"} : fault{};
    });
  }
  run_disturbed(*r.s, std::size_t(-1), {}, 1, r.complaint);
  r.s->device_at(0).inject(nullptr);
  r.s->device_at(1).inject(nullptr);
  return r;
}

/// A run does not wait for units of a victim that other devices have staged, nor for their leases.
std::string left_of_others(const failed_run& r) {
  const auto models = small_models();
  const auto victim =
      static_cast<std::size_t>(std::ranges::find(models, r.victim, &simulated_model::name) - models.begin());
  if (victim == models.size() || !r.s->record()->models[victim].why) {
    return r.s->record()->leftovers;
  }
  std::istringstream lines(r.s->record()->leftovers);
  std::string others;
  for (std::string line; std::getline(lines, line);) {
    const bool of_victim = line.find(fmt::format("model {} ", victim)) != std::string::npos;
    others += of_victim || line.find("holds lease") != std::string::npos ? "" : line;
  }
  return others;
}

/// For the n-th operation of each queue.
void fail_every_operation(failure f, const std::function<void(failed_run&)>& check) {
  for (const auto queue : {queue_kind::compute, queue_kind::h2d, queue_kind::d2h}) {
    f.queue = queue;
    std::size_t operations = 1;
    for (f.n = 0; f.n < operations; ++f.n) {
      INFO("queue " << static_cast<int>(queue) << " operation " << f.n);
      auto r = run_with(f);
      operations = r.operations;
      REQUIRE(r.complaint == "");
      REQUIRE(r.s->record());
      REQUIRE(left_of_others(r) == "");
      check(r);
    }
  }
}

/// The victim has failed with `what` in its fault, the other model has finished.
void only_victim_failed(const failed_run& r, const std::string& what) {
  const auto models = small_models();
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto& out = r.s->record()->models[i];
    REQUIRE(out.ended);
    if (models[i].name == r.victim) {
      REQUIRE_THAT(out.why.text, Contains(what));
    } else {
      REQUIRE_FALSE(out.why);
      REQUIRE(out.steps == models[i].steps);
    }
  }
}

}  // namespace

TEST_CASE("an operation that runs out of memory once is tried again, whichever it is", "[loss]") {
  fail_every_operation({.queue = {}}, [](failed_run& r) {
    REQUIRE(unfinished(*r.s, small_models()) == "");
    REQUIRE(out_of_order(*r.s, small_models()) == "");
  });
}

TEST_CASE("an operation that runs out of memory twice ends its model, and no other", "[loss]") {
  fail_every_operation({.queue = {}, .again = true}, [](failed_run& r) { only_victim_failed(r, "injected"); });
}

TEST_CASE("an operation that throws once is tried again, whichever it is", "[loss]") {
  const auto code = GENERATE(fault_code::internal, fault_code::io);
  fail_every_operation({.queue = {}, .code = code}, [](failed_run& r) {
    REQUIRE(unfinished(*r.s, small_models()) == "");
    REQUIRE(out_of_order(*r.s, small_models()) == "");
  });
}

TEST_CASE("an operation that throws on every device ends its model after three attempts, and no other", "[loss]") {
  fail_every_operation({.queue = {}, .code = fault_code::internal, .again = true}, [](failed_run& r) {
    only_victim_failed(r, "injected (it has failed 3 times, the last time on device ");
    REQUIRE((r.s->record()->devices[0].retired && r.s->record()->devices[1].retired));
  });
}

TEST_CASE("a failure that would occur again ends its model at once, and no other", "[loss]") {
  fail_every_operation({.queue = {}, .code = fault_code::bad_input},
                       [](failed_run& r) { only_victim_failed(r, "injected"); });
}

// -- devices that throw, or do not respond ----------------------------------------------------------------------------

namespace {

/// All operations of a device from the n-th on throw. The number of operations it was given in `operations`.
void break_device(simulation& s, std::size_t device, std::size_t n, std::size_t& operations) {
  s.device_at(device).inject([n, &operations](queue_kind, const operation&) {
    return operations++ >= n ? fault{fault_code::internal, "the device is broken"} : fault{};
  });
}

/// Operations of a device from the n-th on are never reported.
void silence_device(simulation& s, std::size_t device, std::size_t n, std::size_t& operations) {
  s.device_at(device).deliver_by([actor = s.actors().devices[device], n, &operations](queue_kind, duration delay,
                                                                                       const completion& c) {
    if (operations++ < n) {
      caf::delayed_anon_send(actor, delay, operation_completed{c});
    }
  });
}

using trouble = void (*)(simulation&, std::size_t, std::size_t, std::size_t&);

/// For each operation of each device: the trouble starts there, all models finish, in order, once. `setup` makes the
/// run.
void trouble_at_every_operation(
    trouble begin, const std::function<simulation_setup()>& setup,
    const std::function<void(const simulation&, std::size_t victim, std::size_t n)>& check) {
  for (std::size_t victim = 0; victim < 2; ++victim) {
    std::size_t operations = 1;
    for (std::size_t n = 0; n < operations; ++n) {
      INFO("device " << victim << " operation " << n);
      operations = 0;
      auto made = setup();
      const auto slots = made.pipeline.slots;
      simulation s(std::move(made));
      begin(s, victim, n, operations);
      std::string complaint;
      run_disturbed(s, std::size_t(-1), {}, slots, complaint);
      REQUIRE(complaint == "");
      REQUIRE(unfinished(s, small_models()) == "");
      REQUIRE(out_of_order(s, small_models()) == "");
      check(s, victim, n);
    }
  }
}

simulation_setup watched_run(std::uint32_t slots) {
  auto setup = small_run(2, slots);
  setup.watch = {.minimum = 300us, .factor = 5};
  return setup;
}

bool is_lost(const simulation& s, std::size_t device) { return !s.record()->devices[device].retired; }

}  // namespace

TEST_CASE("a device where every unit throws, from any operation on, costs nothing but time: the other one computes",
          "[loss]") {
  const auto slots = GENERATE(1U, 4U);
  trouble_at_every_operation(
      break_device, [slots] { return small_run(2, slots); },
      [](const simulation& s, std::size_t victim, std::size_t) { REQUIRE_FALSE(is_lost(s, 1 - victim)); });
}

TEST_CASE("two of four devices that are broken in the same way are lost, and every model finishes", "[loss]") {
  std::vector<simulated_model> models;
  for (std::size_t i = 0; i < 6; ++i) {
    models.push_back(even_model(fmt::format("m{}", i), 3, 4, 20us, 10us));
  }
  const std::size_t from = GENERATE(0U, 40U);  // operation of the two
  simulation s(even_run(models, 4));
  std::size_t operations = 0;
  for (const std::size_t broken : {0, 1}) {
    break_device(s, broken, from, operations);
  }
  s.run();
  REQUIRE(unfinished(s, models) == "");
  for (std::size_t d = 0; d < 4; ++d) {
    CHECK(is_lost(s, d) == (d < 2));
  }
}

TEST_CASE("the only device is kept although every unit throws there: every model reports it", "[loss]") {
  auto setup = small_run(1, 1);
  simulation s(std::move(setup));
  std::size_t operations = 0;
  break_device(s, 0, 30, operations);
  s.run();
  REQUIRE(s.record());
  CHECK_FALSE(is_lost(s, 0));
  for (const auto& m : s.record()->models) {
    CHECK(m.why.code == fault_code::internal);
    CHECK_THAT(m.why.text, Contains("the device is broken (it has failed 3 times, the last time on device 0)"));
  }
}

namespace {

/// Those named "wrong-..." throw in every computation of their second step, on every device.
std::vector<simulated_model> with_wrong_ones(std::size_t wrong, std::size_t right) {
  std::vector<simulated_model> models;
  for (std::size_t i = 0; i < wrong; ++i) {
    models.push_back(even_model(fmt::format("wrong-{}", i), 2, 3, 20us, 10us));
  }
  for (std::size_t i = 0; i < right; ++i) {
    models.push_back(even_model(fmt::format("right-{}", i), 3, 4, 20us, 10us));
  }
  return models;
}

fault bug_in(queue_kind queue, const operation& op, std::size_t device) {
  const auto& what = op.label.detail;
  const bool throws =
      queue == queue_kind::compute && what.starts_with("wrong-") && what.find(" step 1 ") != std::string::npos;
  return throws ? fault{fault_code::internal, fmt::format("sim:{}: a bug of a layer", device)} : fault{};
}

/// The wrong ones have failed by their bug, the others have finished.
void only_wrong_ones_failed(const simulation& s, const std::vector<simulated_model>& models) {
  REQUIRE(s.record());
  for (std::size_t i = 0; i < models.size(); ++i) {
    INFO(models[i].name);
    const auto& out = s.record()->models[i];
    if (models[i].name.starts_with("wrong-")) {
      CHECK(out.steps == 1);
      CHECK_THAT(out.why.text, Contains("a bug of a layer (it has failed 3 times, the last time on device "));
    } else {
      CHECK_FALSE(out.why);
      CHECK(out.steps == models[i].steps);
    }
  }
}

}  // namespace

TEST_CASE("twenty models with one and the same bug lose no device, and the right one beside them finishes", "[loss]") {
  const std::size_t devices = GENERATE(1U, 2U, 8U);
  const auto models = with_wrong_ones(20, 1);
  simulation s(even_run(models, devices));
  for (std::size_t d = 0; d < devices; ++d) {
    s.device_at(d).inject([d](queue_kind queue, const operation& op) { return bug_in(queue, op, d); });
  }
  s.run();
  only_wrong_ones_failed(s, models);
  for (std::size_t d = 0; d < devices; ++d) {
    CHECK_FALSE(is_lost(s, d));
  }
}

TEST_CASE("of two devices the one that is broken is lost beside models with a bug", "[loss]") {
  const std::size_t broken = GENERATE(0U, 1U);
  const auto models = with_wrong_ones(4, 2);
  simulation s(even_run(models, 2));
  std::size_t operations = 0;
  break_device(s, broken, 0, operations);
  s.device_at(1 - broken).inject([=](queue_kind queue, const operation& op) { return bug_in(queue, op, 1 - broken); });
  s.run();
  only_wrong_ones_failed(s, models);
  CHECK(is_lost(s, broken));
  CHECK_FALSE(is_lost(s, 1 - broken));
}

TEST_CASE("a device may stop responding at any operation", "[loss]") {
  const auto slots = GENERATE(1U, 4U);
  trouble_at_every_operation(
      silence_device, [slots] { return watched_run(slots); },
      [](const simulation& s, std::size_t victim, std::size_t) {
        REQUIRE(is_lost(s, victim));
        REQUIRE_FALSE(is_lost(s, 1 - victim));
      });
}

TEST_CASE("a device of a healthy run is not given up, and the watch delays no end", "[loss]") {
  simulation watched(watched_run(1));
  watched.run();
  simulation plain(small_run(2, 1));
  plain.run();
  CHECK(makespan(watched) == makespan(plain));
  CHECK_FALSE((is_lost(watched, 0) || is_lost(watched, 1)));
  CHECK(watched.record()->leftovers == "");
}

TEST_CASE("when the last device stops responding the run ends and every model reports why", "[loss]") {
  auto setup = small_run(1, 1);
  setup.watch = {.minimum = 300us, .factor = 5};
  simulation s(std::move(setup));
  std::size_t operations = 0;
  silence_device(s, 0, 30, operations);
  s.run();
  REQUIRE(s.record());
  for (const auto& m : s.record()->models) {
    CHECK(m.why.code == fault_code::device_lost);
    CHECK_THAT(m.why.text, Contains("the last device is gone: it has given no sign of life for "));
  }
}

namespace {

/// A run on one device that is saved in `store`, in the middle of its steps.
std::unique_ptr<simulation> saved_run(memory_store& store) {
  auto setup = small_run(1, 1);
  setup.checkpoints.store = &store;
  auto s = std::make_unique<simulation>(std::move(setup));
  for (int i = 0; i < 300; ++i) {
    s->step();
  }
  return s;
}

}  // namespace

TEST_CASE("a run that is stuck asks all actors for their state, and ends", "[loss]") {
  auto setup = small_run(1, 1);
  setup.stall_limit = 1s;
  simulation s(std::move(setup));
  std::size_t operations = 0;
  silence_device(s, 0, 30, operations);
  s.run();
  REQUIRE(s.record());
  CHECK_THAT(s.record()->aborted.text, Contains("no progress for 1.000 s"));
  CHECK_THAT(s.record()->stuck, Contains("scheduler\ndevice 0 has given ") && Contains(" was placed on device 0\n") &&
                                    Contains("device sim:0\nsim:0: model ") && Contains("operations and ") &&
                                    Contains("memory manager\ndevice 0 holds lease ") &&
                                    Contains("\ndevice 0 has model ") && Contains("model task of "));
  for (const auto& m : s.record()->models) {
    CHECK_THAT(m.why.text, Contains("no progress"));
  }
}

TEST_CASE("when the last device is gone every model is saved in its current state", "[loss]") {
  memory_store store;
  const auto models = small_models();
  const auto run = saved_run(store);
  auto& s = *run;
  caf::anon_send_exit(s.actors().devices[0], caf::exit_reason::kill);
  s.run();
  REQUIRE(s.record());
  auto again = small_run(2, 1);
  for (const auto& m : models) {
    REQUIRE(store.of(m.name).size() == 1);
    again.resumed.push_back(store.of(m.name).back());
  }
  CHECK(s.record()->models[0].why.code == fault_code::device_lost);
  simulation t(std::move(again));
  t.run();
  CHECK(unfinished(t, models) == "");
}

TEST_CASE("a second interrupt does not wait for a checkpoint", "[loss]") {
  memory_store store;
  const auto models = small_models();
  const auto run = saved_run(store);
  auto& s = *run;
  post(s.actors().supervisor, interrupt_run{});
  post(s.actors().supervisor, interrupt_run{});
  s.run();
  REQUIRE(s.record());
  for (std::size_t i = 0; i < models.size(); ++i) {
    CHECK(s.record()->models[i].why.code == fault_code::interrupted);
    CHECK(store.of(models[i].name).empty());
  }
}

TEST_CASE("a second interrupt does not wait for checkpoints that are queued", "[loss]") {
  memory_store store;
  const auto run = saved_run(store);
  auto& s = *run;
  post(s.actors().supervisor, interrupt_run{});
  while (const auto choice = choice_without(s, s.actors().checkpointer.id())) {
    s.step(*choice);
  }
  REQUIRE(overhear(s)->get<save_model>());
  post(s.actors().supervisor, interrupt_run{});
  while (const auto choice = choice_without(s, s.actors().checkpointer.id())) {
    s.step(*choice);
  }
  s.run();
  REQUIRE(s.record());
  for (const auto& m : small_models()) {
    CHECK(store.of(m.name).empty());
  }
}

TEST_CASE("a device that is lost while an interrupted run is saved does not stop the saving", "[loss]") {
  memory_store store;
  const auto models = small_models();
  const auto run = saved_run(store);
  auto& s = *run;
  post(s.actors().supervisor, interrupt_run{});
  s.step();
  caf::anon_send_exit(s.actors().devices[0], caf::exit_reason::kill);
  s.run();
  REQUIRE(s.record());
  for (const auto& m : models) {
    CHECK(store.of(m.name).size() == 1);
  }
}

// -- controllers ------------------------------------------------------------------------------------------------------

namespace {

/// Both models are observed; `observe` is the callback.
simulation_setup observed_run(step_callback observe) {
  auto setup = small_run(2, 1);
  setup.callbacks.add<step_completed>(std::move(observe));
  return setup;
}

void require_finished(simulation& s) {
  REQUIRE(unfinished(s, small_models()) == "");
  REQUIRE(out_of_order(s, small_models()) == "");
  REQUIRE(s.record()->leftovers == "");
}

/// Lets any actor but the controller run. False if nothing is left to do. Counts in `reported` the tasks that are
/// notified of its loss.
bool step_without_controller(simulation& s, int& reported) {
  if (const auto choice = choice_without(s, s.actors().controller.id())) {
    const auto m = overhear(s, *choice);
    reported += m && m->to.part == role::task && m->get<controller_lost>() ? 1 : 0;
    return s.step(*choice);
  }
  return s.let_time_pass();
}

/// The controller has started a callback for the first step that a model reports, and never returns.
std::unique_ptr<simulation> run_stuck_in_a_callback(step_callback observe) {
  auto setup = observed_run(std::move(observe));
  setup.callback_limit = 1ms;
  auto s = std::make_unique<simulation>(std::move(setup));
  post(s->actors().supervisor, callback_began{"step 1 of small"});
  return s;
}

}  // namespace

TEST_CASE("a controller may die at any message: the run continues without callbacks", "[loss]") {
  for (std::size_t at = 0, messages = 1; at < messages; ++at) {
    INFO("message " << at);
    simulation s(observed_run([](const step_completed&, control&) {}));
    messages = 0;
    do {
      if (messages++ == at) {
        caf::anon_send_exit(s.actors().controller, caf::exit_reason::kill);
      }
    } while (s.step());
    require_finished(s);
    CHECK((at > 0 || s.record()->callbacks_lost == "the actor that calls the callbacks is gone"));
  }
}

TEST_CASE("a callback that throws is not called again, and nothing else happens", "[loss]") {
  for (int throws_at = 0; throws_at < 4; ++throws_at) {
    INFO("call " << throws_at);
    int calls = 0;
    simulation s(observed_run([&](const step_completed&, control&) {
      if (calls++ == throws_at) {
        throw std::runtime_error("no");
      }
    }));
    s.run();
    require_finished(s);
    CHECK(calls == throws_at + 1);
    REQUIRE(s.record()->callbacks_failed.size() == 1);
    CHECK_THAT(s.record()->callbacks_failed[0], Contains("a callback failed after step ") && Contains(" of ") &&
                                                    Contains(": no; it is not called any more"));
    CHECK(s.record()->callbacks_lost == "");
  }
}

TEST_CASE("a controller that never answers is awaited once, not longer than its limit", "[loss]") {
  const auto run = run_stuck_in_a_callback([](const step_completed&, control&) {});
  auto& s = *run;
  int reported = 0;
  while (step_without_controller(s, reported)) {
  }
  require_finished(s);
  CHECK(reported == 2);
  CHECK_THAT(s.record()->callbacks_lost,
             Contains("a callback has not returned within ") && Contains(" after step 1 of "));
  CHECK(makespan(s) > 1ms);
  CHECK(makespan(s) < 2ms);
}

TEST_CASE("a callback is not late because it waits for others", "[loss]") {
  auto setup = observed_run([](const step_completed&, control&) {});
  setup.callback_limit = 1ns;
  simulation s(std::move(setup));
  int reported = 0;
  while (step_without_controller(s, reported)) {
  }
  s.run();
  require_finished(s);
  CHECK(s.record()->callbacks_lost == "");
}

TEST_CASE("an answer that comes when the controller was given up has no effect", "[loss]") {
  const auto run = run_stuck_in_a_callback([](const step_completed& e, control& wishes) { wishes.stop(e.model); });
  auto& s = *run;
  int reported = 0;
  while (reported < 2 ? step_without_controller(s, reported) : s.step()) {
  }
  require_finished(s);
}
