// Which devices a run should use, with given times.

#include "actors/admission/device_choice.hpp"

#include "actors/admission/planned_workload.hpp"
#include "actors/admission/recorded_choice.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/session/hydra.hpp"
#include "runtime/base/interrupt_flag.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace std::chrono_literals;
using Catch::Contains;
using hydra::test::is_deep;
using hydra::test::test_seed;

namespace device_choice_test {

/// Three models of four layers on two devices of one class and one of each of two others, with random times,
/// speeds, prices and powers.
struct random_workload {
  session_options options{.log = verbosity::quiet};
  std::vector<model_description> models;
  std::vector<device_entry> devices;
  interrupt_flag interrupts;
  planning_setup from{options, models, devices, interrupts, make_logger(verbosity::quiet)};
  planned_run run{.planned = {}, .from = from, .devices = {}, .make_policy = {}};
  run_terms terms;
  run_goal goal;
  std::mt19937 random;

  double between(double least, double most) { return std::uniform_real_distribution{least, most}(random); }

  explicit random_workload(std::uint32_t seed) : random(seed) {
    devices.push_back(
        {"cpu", [](const std::string& name, device_use) { return make_cpu_device(name, {.memory = 540_KiB}); }});
    for (int i = 0; i < 3; ++i) {
      models.push_back({.name = fmt::format("m{}", i),
                        .chain = mlp({.layers = 4, .width = 64}),
                        .data = {synthetic_classes{.features = 64}},
                        .batch_size = 8,
                        .steps = static_cast<std::uint32_t>(random() % 8 + 2),
                        .optimizer = sgd({.learning_rate = 0.1})});
    }
    run.planned = plan_workload(from);
    give_times();
    add_machines();
    run.planned = plan_again(run.planned, from);
    run.make_policy = [] { return make_policy(default_policy, 0); };
    goal.least = random() % 2 == 0 ? run_objective::cost : run_objective::energy;
  }

  void give_times() {
    for (auto& p : run.planned.prepared) {
      auto given = *p.profile;
      for (auto& layer : given.layers) {
        layer.forward = from_seconds(between(0.5e-3, 2e-3));
        layer.backward = 3 * layer.forward;
      }
      p.profile = std::make_shared<const chain_profile>(std::move(given));
      p.profile_for.fill(p.profile);
    }
  }

  void add_machines() {
    const auto first = run.planned.machines.front();
    run.planned.machines.clear();
    for (int kind = 0; kind < 3; ++kind) {
      auto machine = first;
      machine.speed = between(0.3, 1);
      machine.link = byte_rate{between(2e7, 2e8)};
      const auto idle = between(10, 100);
      const expense_terms its{.price = between(0.5, 5) * 1000,
                              .billed = random() % 2 == 0 ? billing::run : billing::used,
                              .watts = power_draw{idle + between(0, 300), idle}};
      for (int i = 0; i < (kind == 0 ? 2 : 1); ++i) {
        machine.name = fmt::format("cpu:{}", run.planned.machines.size());
        run.planned.machines.push_back(machine);
        terms.devices.push_back(its);
      }
    }
    run.devices = run.planned.machines;
  }
};

struct found {
  double amount = std::numeric_limits<double>::infinity();
  duration makespan{};
};

/// On the devices of a mask; what it takes by the formulas of the documentation.
found taken(const random_workload& w, unsigned mask) {
  auto run = w.run;
  std::vector<expense_terms> terms;
  run.devices.clear();
  for (unsigned i = 0; i < w.run.devices.size(); ++i) {
    if (mask >> i & 1U) {
      run.devices.push_back(w.run.devices[i]);
      terms.push_back(w.terms.devices[i]);
    }
  }
  run.planned.machines = run.devices;
  run.planned = plan_again(run.planned, run.from);
  const auto f = predict_shortly(run);
  double cost = 0, joules = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto& work = f.work.devices[i];
    duration busy{};
    for (const auto each : work.computed) {
      busy += each;
    }
    const auto paid = terms[i].billed == billing::run ? f.makespan : work.used;
    cost += std::round(seconds(paid) / 3600 * *terms[i].price * 1e4);
    joules += std::round(seconds(busy) * terms[i].watts->busy + seconds(paid - busy) * terms[i].watts->idle);
  }
  return {w.goal.least == run_objective::cost ? cost : joules, f.makespan};
}

double amount_of(const device_choice& c, run_objective least) {
  const auto& all = c.expected->spent.all;
  return static_cast<double>(least == run_objective::cost ? all.cost->ten_thousandths : *all.joules);
}

TEST_CASE("the chosen devices are the cheapest that meet the deadline, by trying all of them", "[devices]") {
  for (std::uint32_t n = 0; n < (is_deep() ? 20U : 3U); ++n) {
    random_workload w(test_seed() + n);
    INFO("workload " << test_seed() + n);
    std::vector<found> all;
    for (unsigned mask = 1; mask < 16; ++mask) {
      all.push_back(taken(w, mask));
    }
    const auto [fastest, slowest] = std::ranges::minmax(all, {}, &found::makespan);
    w.goal.deadline = from_seconds(w.between(seconds(fastest.makespan), seconds(slowest.makespan)));
    double least = std::numeric_limits<double>::infinity();
    for (const auto& f : all) {
      least = f.makespan <= *w.goal.deadline ? std::min(least, f.amount) : least;
    }
    const auto choices = compare_devices(w.run, w.models, w.terms);
    REQUIRE(choices.complete);
    CHECK(choices.all.size() == 11);  // 3 * 2 * 2 - 1
    const auto best = best_choice(choices.all, w.goal);
    REQUIRE(best);
    CHECK(amount_of(choices.all[*best], w.goal.least) == least);
    CHECK(choices.all[*best].expected->makespan <= *w.goal.deadline);
    for (const auto& c : choices.all) {
      REQUIRE(c.expected);
      CHECK(c.least.cost->ten_thousandths <= c.expected->spent.all.cost->ten_thousandths);
      CHECK(*c.least.joules <= *c.expected->spent.all.joules);
    }
    CHECK_FALSE(best_choice(choices.all, {.deadline = fastest.makespan - 1ns}));
    const goal_not_met late(choices, {.deadline = 1us});
    CHECK(late.compared.all.size() == choices.all.size());
    CHECK_THAT(late.what_happened().text, Contains("run.deadline: 1 us cannot be met") &&
                                              Contains("expected to take " + to_string(fastest.makespan)));
    const auto order = best_first(choices.all, w.goal);
    const auto too_late = std::ranges::find_if_not(
        order, [&](std::size_t i) { return is_in_time(choices.all[i], w.goal); });
    CHECK(std::none_of(too_late, order.end(), [&](std::size_t i) { return is_in_time(choices.all[i], w.goal); }));
  }
}

TEST_CASE("devices that cost or compute otherwise are of other classes", "[devices]") {
  const std::vector<device_info> devices{{.name = "cpu:0", .kind = "cpu", .memory = 1_MiB},
                                         {.name = "cpu:1", .kind = "cpu", .speed = 0.5, .memory = 1_MiB},
                                         {.name = "cpu:2", .kind = "cpu", .memory = 1_MiB},
                                         {.name = "cpu:3", .kind = "cpu", .memory = 1_MiB}};
  const run_terms terms{.devices = {{.price = 1}, {.price = 1}, {.price = 1}, {.price = 2}}};
  const auto classes = classes_of(devices, terms);
  REQUIRE(classes.size() == 3);
  CHECK(classes[0].members == std::vector<std::size_t>{0, 2});
  CHECK(classes[0].name == "cpu:0 and cpu:2");
  const device_choice c{.counts = {1, 0, 1}};
  CHECK(to_text(c, classes) == "1 of cpu:0 and cpu:2, cpu:3");
  CHECK(members_of(c, classes) == std::vector<std::size_t>{0, 3});
}

TEST_CASE("equal GPUs are of one class, although each has another index and not quite the same memory", "[devices]") {
  std::vector<device_info> gpus;
  for (int i = 0; i < 8; ++i) {
    gpus.push_back({.name = fmt::format("cuda:{}", i),
                    .kind = "cuda",
                    .model = "NVIDIA H200",
                    .memory = 100_GiB + byte_count{static_cast<std::uint64_t>(i) << 20},
                    .torch_device = fmt::format("cuda:{}", i)});
  }
  const auto classes = classes_of(gpus, {});
  REQUIRE(classes.size() == 1);
  CHECK(classes[0].name == "cuda:0 to cuda:7");
  gpus[7].memory = 50_GiB;
  CHECK(classes_of(gpus, {}).size() == 2);
}

TEST_CASE("a run that is resumed uses the devices that it had chosen, unless the workload has others by now", "[devices]") {
  const test::temporary_folder run;
  CHECK(recorded_choice(run.path(), {"cpu:0", "cpu:1"}).empty());
  record_choice(run.path(), {"cpu:0", "cpu:1"}, {1});
  CHECK(recorded_choice(run.path(), {"cpu:0", "cpu:1"}) == std::vector<std::size_t>{1});
  CHECK(recorded_choice(run.path(), {"cpu:0", "cpu:1", "cpu:2"}).empty());
  run.write("devices.json", "{\"devices\": [\"cpu:0\"], \"used\": [7]}");
  CHECK(recorded_choice(run.path(), {"cpu:0"}).empty());
  run.write("devices.json", "{");
  CHECK(recorded_choice(run.path(), {"cpu:0"}).empty());
}

TEST_CASE("no schedule costs less than its bound: by the run, by use, and by work where it is cheapest", "[devices]") {
  const std::vector<device_info> devices{{.name = "a", .memory = 1_MiB}, {.name = "b", .speed = 0.5, .memory = 1_MiB}};
  const bounds limits{.work = 100s};  // of 150 s at speed 1
  const expense_terms run{.price = 36, .watts = power_draw{100, 40}};
  auto used = run;
  used.billed = billing::used;
  constexpr auto rounded = 2;  // of two devices and the host, each down by a half
  CHECK(least_expense(limits, devices, {.devices = {run, run}}).cost == money{20000 - rounded});
  CHECK(least_expense(limits, devices, {.devices = {used, used}}).cost == money{15000 - rounded});
  CHECK(least_expense(limits, devices, {.devices = {run, used}}).cost == money{10000 - rounded});
  CHECK(least_expense(limits, devices, {.devices = {run, run}}).joules == 100 * 80 + 150 * 60 - rounded);
  CHECK(least_expense(limits, devices, {.devices = {used, used}}).joules == 150 * 100 - rounded);
  CHECK(least_expense(limits, devices, {.devices = {run, run}, .host = {.price = 36}}).cost == money{30000 - rounded});
}

}  // namespace device_choice_test
