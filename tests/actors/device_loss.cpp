// A device is lost, or an operation fails, at every single moment of a small run.

#include "actors/simulation/simulated_device.hpp"
#include "tests/support/overhear.hpp"
#include "tests/support/protocol_witness.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

/// Two and three shards, two steps, two micro-batches; boundaries take a fifth of a visit.
std::vector<simulated_model> small_models() {
  std::vector models{even_model("a", 2, 2, 20us, 10us), even_model("b", 3, 2, 20us, 10us)};
  for (auto& m : models) {
    m.micro_batches = 2;
    for (auto& s : m.shards) {
      s.activation = bytes_of(4us);
      s.update = 3us;
      s.working = bytes_of(30us);
      s.landing = bytes_of(18us);
    }
  }
  return models;
}

/// Budgets that are just sufficient: (P + C) + W.
simulation_setup small_run(std::size_t devices, std::uint32_t slots) {
  auto setup = even_run(small_models(), devices);
  for (auto& d : setup.devices) {
    d.memory = byte_count{512 * 120};
  }
  setup.pipeline.slots = slots;
  setup.pipeline.staging_room = byte_count{512 * 36};
  return setup;
}

/// Runs in order and lets `disturb` act before message `at`. The number of messages of the run; the witness's complaint
/// in `complaint`.
std::size_t run_disturbed(simulation& s, std::size_t at, const std::function<void()>& disturb, std::uint32_t slots,
                          std::string& complaint) {
  protocol_witness witness(s, {.slots = slots, .untroubled = false});
  std::size_t n = 0;
  do {
    if (n++ == at) {
      disturb();
    }
    if (const auto m = overhear(s)) {
      witness.hear(*m);
    } else if (!s.next()) {
      witness.rest();
    }
  } while (s.step());
  complaint = witness.complaint();
  return n;
}

void kill(simulation& s, std::size_t device) {
  caf::anon_send_exit(s.actors().devices[device], caf::exit_reason::kill);
}

void declare_lost(simulation& s, std::size_t device) {
  post(s.actors().memory,
       device_lost{device_id{static_cast<std::uint32_t>(device)}, {fault_code::device_lost, "declared lost"}});
}

/// All models finish, each unit committed once and in order, whichever device is lost at whichever message.
void lose_at_every_message(void (*lose)(simulation&, std::size_t), std::uint32_t slots) {
  const auto models = small_models();
  for (std::size_t victim = 0; victim < 2; ++victim) {
    for (std::size_t at = 0, messages = 1; at < messages; ++at) {
      INFO("device " << victim << " is lost at message " << at);
      simulation s(small_run(2, slots));
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

// -- devices --------------------------------------------------------------------------------------------------------------

TEST_CASE("a device may die at any message", "[loss]") { lose_at_every_message(kill, 1); }
TEST_CASE("a device with two slots may die at any message", "[loss]") { lose_at_every_message(kill, 2); }
TEST_CASE("a device may be declared lost at any message and go on talking", "[loss]") {
  lose_at_every_message(declare_lost, 1);
}
TEST_CASE("a device with two slots may be declared lost at any message", "[loss]") {
  lose_at_every_message(declare_lost, 2);
}

TEST_CASE("when the last device dies the run ends and every model says why", "[loss]") {
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
      REQUIRE((finished || m.why.text == "the last device is gone"));
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

// -- operations -----------------------------------------------------------------------------------------------------------

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
      REQUIRE(r.s->record()->leftovers == "");
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

TEST_CASE("an operation that fails otherwise ends its model, and no other", "[loss]") {
  fail_every_operation({.queue = {}, .code = fault_code::internal},
                       [](failed_run& r) { only_victim_failed(r, "injected"); });
}
