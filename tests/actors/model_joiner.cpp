#include "actors/model_joiner.hpp"

#include "models/mlp.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <utility>

using namespace hydra;
using namespace hydra::literals;

namespace {

/// Copies take longer than what they are for.
constexpr cpu_device slow_link{.memory = 64_MiB, .link = byte_rate{1e6}};

model_description wide(const std::string& name) {
  return {.name = name,
          .chain = mlp({.layers = 2, .width = 32}),
          .data = {synthetic_classes{}},
          .batch_size = 8,
          .steps = 4,
          .optimizer = sgd({.learning_rate = 0.1})};
}

/// A joiner of the run of one model on one device.
struct bench {
  bench() {
    const auto make = [this](const std::string& name) {
      ++devices_made;
      return make_cpu_device(name, slow_link);
    };
    session s{options};
    s.add_device("cpu", make);
    s.add_model(wide("first"));
    const auto plan = s.plan();
    joiner.emplace(joining_setup{.options = options,
                                 .devices = {{"cpu", make}},
                                 .machines = s.devices(),
                                 .plan = plan,
                                 .setting = "another one",
                                 .arena = arena.get(),
                                 .log = make_logger(verbosity::quiet)});
    devices_made = 0;
  }

  session_options options{.log = verbosity::quiet};
  int devices_made = 0;
  std::unique_ptr<host_arena> arena = make_host_arena(64_MiB);
  std::optional<model_joiner> joiner;
};

fault_code refusal(model_joiner& joiner, const model_description& m) {
  try {
    joiner.prepare(m, {});
  } catch (const fault_error& e) {
    return e.what_happened().code;
  }
  return {};
}

}  // namespace

TEST_CASE("what is left of a model that joins is told in wall time, as of the run's own", "[joining]") {
  bench b;
  CHECK(b.joiner->prepare(wide("late"), {}).what->remaining_scale > 2);
}

TEST_CASE("a preparation that is cancelled ends with its present phase, and no other begins", "[joining]") {
  bench b;
  auto late = wide("late");
  late.chain.build = [&, build = late.chain.build](const data_source& data) {
    b.joiner->cancel();
    return build(data);
  };
  CHECK(refusal(*b.joiner, late) == fault_code::refused);
  CHECK(b.devices_made == 0);  // nothing was measured
  CHECK(b.arena->budget().used() == byte_count{});
  CHECK(refusal(*b.joiner, wide("later")) == fault_code::refused);
  CHECK(b.devices_made == 0);
}
