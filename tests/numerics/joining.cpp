// Models that join a run under way have the bits of plain training, and cost the others none of theirs.

#include "models/families/cnn/cnn.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/mixed_workload.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;
using Catch::Contains;

namespace {

/// What add_model has thrown.
template <class Action>
fault refused(const Action& add) {
  try {
    add();
  } catch (const fault_error& e) {
    return e.what_happened();
  }
  return {};
}

/// The first two models of the mixed workload; the third one joins.
std::vector<exact_case> first_two() {
  auto all = mixed_workload();
  all.pop_back();
  return all;
}

/// Adds the third model after step `at` of the first one.
step_callback adds_third(std::uint32_t at) {
  return [at](const step_completed& e, control& c) {
    if (e.model == model_id{0} && e.done == at) {
      c.add(describe(mixed_workload()[2], 2));
    }
  };
}

}  // namespace

TEST_CASE("a model that another thread adds in mid-run has plain training's bits, and so have the others",
          "[joining]") {
  std::optional<model_id> id;
  const auto result = train_spilled(first_two(), {.devices = {tiny(), roomy()}},
                                    [&](session& s) { id = s.add_model(describe(mixed_workload()[2], 2)); });
  CHECK(id == model_id{2});
  require_mixed_bits(result);
  CHECK(result.summary.models[2].arrival > duration{});
}

TEST_CASE("a model that a callback adds has plain training's bits, whenever it joins, the last moment included",
          "[joining]") {
  for (const std::uint32_t at : {1u, 2u, 3u}) {
    INFO("added after step " << at);
    const auto result = train_spilled(first_two(), {.devices = {tiny(), tiny()}, .callbacks = {adds_third(at)}});
    require_mixed_bits(result);
  }
}

TEST_CASE("a chain that the run does not know is measured during the run, on a device of its own", "[joining]") {
  auto wide = tiny_gpt(0.0, true);
  wide.chain = gpt2({.layers = 2, .width = 8, .heads = 2, .context = 6});
  wide.cuts = {};
  wide.steps = 2;
  const auto result =
      train_spilled(first_two(), {.devices = {roomy()}}, [&](session& s) { s.add_model(describe(wide, 7)); });
  CHECK(difference(train_plain(wide), result, 2) == "");
  CHECK(difference(plain_results()[0], result, 0) == "");
}

TEST_CASE("a model joins one whose replicas meet, and has the same layers and replicas that do not", "[joining]") {
  auto meeting = tiny_cnn();
  meeting.chain = cnn({.stages = 1, .blocks = 1, .width = 4, .dense_layers = 1, .dense_width = 12});
  meeting.micro_batches = 2;
  meeting.replicas = 2;
  meeting.until = "dense.0";
  meeting.cuts = {};
  auto apart = meeting;
  apart.until = "";
  const auto result =
      train_spilled({meeting}, {.devices = {roomy()}}, [&](session& s) { s.add_model(describe(apart, 1)); });
  CHECK(difference(train_plain(meeting), result, 0) == "");
  CHECK(difference(train_plain(apart), result, 1) == "");
}

TEST_CASE("a model that does not fit next to the run is refused with numbers, and the run keeps its bits",
          "[joining]") {
  auto whole = mixed_workload()[2];
  whole.cuts = {0};
  fault why;
  const auto result = train_spilled(first_two(), {.devices = {tiny()}},
                                    [&](session& s) { why = refused([&] { s.add_model(describe(whole, 2)); }); });
  CHECK(why.code == fault_code::does_not_fit);
  CHECK_THAT(why.text, Contains("model 'model-2' cannot join") && Contains("bytes) to compute") &&
                           Contains(fmt::format("{} bytes", tiny().memory.value())));
  CHECK(difference(plain_results()[0], result, 0) == "");
  CHECK(difference(plain_results()[1], result, 1) == "");
  CHECK(result.summary.models.size() == 2);
  CHECK_THAT(result.summary.notes.back(), Contains("not added: model 'model-2' cannot join"));
}

TEST_CASE("a model for which there is no host memory waits for that of the others; one that never fits is refused",
          "[joining]") {
  run_options options{.devices = {roomy()}};
  options.host_memory = planned_host_memory(first_two(), options);
  auto huge = tiny_gpt(0.0, false);
  huge.chain = gpt2({.layers = 64, .width = 16, .heads = 2, .context = 6});
  huge.cuts = {};
  session s{
      {.host_memory = options.host_memory, .log = verbosity::quiet}};  // parameters may not be kept: memory is scarce
  s.add_devices(1, roomy());
  for (std::size_t i = 0; i < 2; ++i) s.add_model(describe(first_two()[i], i));
  s.on<step_completed>([&](const step_completed& e, control& c) {
    if (e.model == model_id{0} && e.done == 1) {
      c.add(describe(huge, 7));
      c.add(describe(mixed_workload()[2], 2));
    }
  });
  const auto result = s.run();
  CHECK(result.models.size() == 3);
  CHECK_THAT(result.notes.back(),
             Contains("'model-7' alone needs at least") && Contains("bytes) of host memory"));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(result.models[i].loss == plain_results()[i].losses);
    CHECK(result.models[i].status == model_status::finished);
  }
  CHECK(result.host_peak <= options.host_memory);
}

TEST_CASE("a description that is wrong, or a name that is taken, is refused", "[joining]") {
  fault wrong, twice;
  train_spilled(first_two(), {}, [&](session& s) {
    auto m = describe(mixed_workload()[2], 2);
    m.batch_size = 0;
    wrong = refused([&] { s.add_model(m); });
    twice = refused([&] { s.add_model(describe(mixed_workload()[2], 1)); });
  });
  CHECK_THAT(wrong.text, Contains("batch_size"));
  CHECK(twice.code == fault_code::bad_input);
  CHECK_THAT(twice.text, Contains("'model-1'") && Contains("another model of the run has it already"));
}

TEST_CASE("while a run is being halted no model can be added, nor after it", "[joining]") {
  fault during, after;
  train_spilled(first_two(), {}, [&](session& s) {
    s.interrupt();
    during = refused([&] { s.add_model(describe(mixed_workload()[2], 2)); });
  });
  CHECK(during.code == fault_code::refused);
  session s({.log = verbosity::quiet});
  s.add_devices(1, roomy());
  s.add_model(describe(mixed_workload()[0], 0));
  s.run();
  after = refused([&] { s.add_model(describe(mixed_workload()[1], 1)); });
  CHECK(after.code == fault_code::refused);
  CHECK_THAT(after.text, Contains("the run has ended"));
}

TEST_CASE("a halt does not wait for the measurement of a model that is being prepared", "[joining]") {
  gate asked, answered;
  auto unknown = tiny_gpt(0.0, true);
  unknown.chain = gpt2({.layers = 2, .width = 8, .heads = 2, .context = 6});
  unknown.cuts = {};
  int devices = 0;
  session s({.log = verbosity::quiet});
  s.add_device("cpu", [&](const std::string& name) {
    ++devices;
    return make_cpu_device(name, roomy());
  });
  auto first = mixed_workload()[0];
  first.steps = 1000;
  s.add_model(describe(first, 0));
  auto late = describe(unknown, 1);
  late.chain.build = [&, build = late.chain.build](const data_source& data) {
    asked.open();
    answered.wait();
    return build(data);
  };
  fault why;
  std::thread other;
  s.on<step_completed>([&](const step_completed&, control&) {
    if (!other.joinable()) {
      other = std::thread{[&] { why = refused([&] { s.add_model(late); }), answered.open(); }};
      asked.wait();
      s.interrupt();
    }
  });
  const auto r = s.run();
  other.join();
  CHECK(why.code == fault_code::refused);
  CHECK(r.models.size() == 1);
  CHECK(devices == 2);  // the plan's and the run's
}

TEST_CASE("a model that had joined an interrupted run continues when it is added to the resumed one", "[joining]") {
  const temporary_folder folder;
  run_options options{.devices = {tiny(), tiny()}, .output = folder.path()};
  auto models = first_two();
  models[0].steps = 40;
  const auto first = train_spilled(models, options, [](session& s) {
    s.add_model(describe(mixed_workload()[2], 2));
    s.interrupt();
  });
  CHECK(first.summary.models.at(2).status == model_status::interrupted);
  options.resume = true;
  const auto second =
      train_spilled(models, options, [](session& s) { s.add_model(describe(mixed_workload()[2], 2)); });
  CHECK(difference(plain_results()[2], second, 2) == "");
  CHECK(difference(plain_results()[1], second, 1) == "");
}
