#include "actors/report/expense_account.hpp"

#include "tests/support/depth.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace expenses_test {

expense sum(const std::vector<expense>& all) { return std::accumulate(all.begin(), all.end(), expense{}, std::plus{}); }

/// Prices and powers that do not divide evenly.
run_terms uneven(std::size_t devices) {
  run_terms t;
  t.devices.assign(devices, {.price = 30613.7, .watts = power_draw{31171.7, 5533.3}});
  t.host = {.price = 7171.7, .watts = power_draw{8313.1, 8313.1}};
  return t;
}

TEST_CASE("shares are whole numbers whose sum is the total", "[expenses]") {
  std::mt19937_64 random{test_seed()};
  for (int run = 0; run < 200; ++run) {
    std::vector<double> weights(random() % 20 + 1);
    for (auto& w : weights) {
      w = random() % 4 == 0 ? 0 : static_cast<double>(random() % 1'000'000'000) / 1e9;
    }
    const auto total = static_cast<std::int64_t>(random() % 100'000);
    const auto all = std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto shares = apportioned(total, weights);
    REQUIRE(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}) == total);
    for (std::size_t i = 0; i < shares.size() && all > 0; ++i) {
      REQUIRE(shares[i] >= 0);
      REQUIRE(std::abs(static_cast<double>(shares[i]) - static_cast<double>(total) * weights[i] / all) < 1 + 1e-6);
    }
  }
}

TEST_CASE("without weights shares are equal", "[expenses]") {
  CHECK(apportioned(9, std::vector<double>(3)) == std::vector<std::int64_t>{3, 3, 3});
  CHECK(apportioned(7, {}).empty());
}

TEST_CASE("a device is paid while the run lasts, and its idle time is divided like its busy time", "[expenses]") {
  const run_work work{.makespan = 100s, .devices = {{.computed = {60s, 20s}, .used = 90s}}, .models = 2};
  const auto e = expenses_of(work, {.devices = {{.price = 3.6, .watts = power_draw{300, 50}}}});
  CHECK(e.all == expense{.time = 100s, .cost = money{1000}, .joules = 80 * 300 + 20 * 50});
  CHECK(e.models[0] == expense{.time = 75s, .cost = money{750}, .joules = 18750});
  CHECK(e.models[1] == expense{.time = 25s, .cost = money{250}, .joules = 6250});
}

TEST_CASE("a device that is billed as used is paid from its first unit to its last", "[expenses]") {
  const run_work work{
      .makespan = 100s, .devices = {{.computed = {40s}, .used = 50s}, {.computed = {20s}, .used = 20s}}, .models = 1};
  const expense_terms used{.price = 3.6, .billed = billing::used, .watts = power_draw{10, 1}};
  const auto e = expenses_of(work, {.devices = {used, used}});
  CHECK(e.devices[0] == expense{.time = 50s, .cost = money{500}, .joules = 410});
  CHECK(e.devices[1] == expense{.time = 20s, .cost = money{200}, .joules = 200});
  CHECK(e.models[0] == e.all);
}

TEST_CASE("what was measured counts more than what is stated", "[expenses]") {
  const run_work work{.makespan = 10s,
                      .devices = {{.computed = {5s}, .measured = energy_reading{123.4, "nvml"}}},
                      .host = energy_reading{50, "rapl"},
                      .models = 1};
  const auto e = expenses_of(work, uneven(1));
  CHECK(e.devices[0].joules == 123);
  CHECK(e.host.joules == 50);
  CHECK(e.models[0].joules == 173);
}

TEST_CASE("nothing is said of what has neither a price nor watts", "[expenses]") {
  const run_work work{.makespan = 10s, .devices = {{.computed = {5s}}}, .models = 1};
  const auto e = expenses_of(work, {});
  CHECK(e.all == expense{.time = 10s});
  CHECK(e.models[0] == e.all);
}

TEST_CASE("a device that has computed nothing, and the host, are divided by the work on all devices", "[expenses]") {
  const run_work work{.makespan = 100s, .devices = {{.computed = {30s, 10s}}, {}}, .models = 2};
  const auto e = expenses_of(work, {.devices = {{.price = 0}, {.price = 3.6}}, .host = {.price = 3.6}});
  CHECK(e.models[0].cost == money{1500});
  CHECK(e.models[1].cost == money{500});
}

TEST_CASE("a model that has ended does not pay for what comes then", "[expenses]") {
  const run_terms terms{.devices = {{.price = 3.6, .watts = power_draw{10, 1}}, {.price = 3.6}}, .host = {.price = 3.6}};
  run_work work{.makespan = 10s, .devices = {{.computed = {3s, 1s}}, {}}, .models = 2};
  expense_account account(terms);
  account.close_period(work);  // the first model ends
  const auto at_its_end = account.so_far(work).models[0];
  CHECK(at_its_end == expense{.time = 15s, .cost = money{225}, .joules = 35});  // 3/4; (4 * 10 + 6) * 3/4 J
  work.ended = {true};
  work.makespan = 20s;
  CHECK(account.so_far(work).models[0] == at_its_end);  // nothing is computed meanwhile
  account.close_period(work);                           // so that is one period with the next
  work.makespan = 40s;
  work.devices[0].computed[1] = 11s;
  const auto e = account.so_far(work);
  CHECK(e.models[0] == at_its_end);
  CHECK(sum(e.models) == e.all);
  CHECK(e.models[1].time == 80s - 15s);
}

TEST_CASE("what a node takes between two models belongs to neither", "[expenses]") {
  expense_account account({.devices = {{.price = 3.6}}}, expense_account::waiting::of_none);
  run_work work{.makespan = 10s, .devices = {{.computed = {}}}, .models = 2};
  account.close_period(work);  // a model comes
  CHECK(account.so_far(work).models[0].cost == money{0});
  work.makespan = 30s;
  work.devices[0].computed = {15s};
  account.close_period(work);  // it goes
  work.makespan = 40s;
  account.close_period(work);  // another one comes
  work.makespan = 50s;
  work.devices[0].computed = {15s, 1s};
  const auto e = account.so_far(work);
  CHECK(e.all.cost == money{500});
  CHECK(e.models[0] == expense{.time = 20s, .cost = money{200}});
  CHECK(e.models[1] == expense{.time = 10s, .cost = money{100}});
}

TEST_CASE("what a model computes before its first report counts in the period that begins then", "[expenses]") {
  expense_account account({.devices = {{.price = 3.6}}});
  account.close_period({.makespan = 10s, .devices = {{.computed = {10s}}}, .models = 1});
  account.close_period({.makespan = 8s, .devices = {{.computed = {11s}}}, .models = 1});  // its unit began earlier
  const run_work work{.makespan = 20s, .devices = {{.computed = {11s, 9s}}}, .models = 2};
  const auto e = account.so_far(work);
  CHECK(sum(e.models) == e.all);
  CHECK(e.models[0].time == 10s);
}

TEST_CASE("models add up to the run, which was paused, has lost a device and has got a model", "[expenses]") {
  auto setup = even_run({even_model("a", 2, 9, 2ms, 1ms), even_model("b", 3, 7, 3ms, 1ms)}, 2);
  setup.joiners = {even_model("late", 2, 3, 2ms, 1ms)};
  setup.costs = uneven(2);
  simulation s(std::move(setup));
  s.run_until(s.now() + 7ms);
  s.add_model("late");
  s.kill_device(1, 11ms);
  s.run_until(s.now() + 5ms);
  s.steer("b", model_command::stop);
  s.run();
  REQUIRE(s.record()->models.size() == 3);
  const auto& work = s.record()->work;
  CHECK(work.makespan == makespan(s));
  const auto& e = s.record()->spent;
  CHECK(e.all == expenses_of(work, uneven(2)).all);
  CHECK(sum(e.models) == e.all);
  CHECK(sum(e.devices) + e.host == e.all);
  for (std::size_t d = 0; d < 2; ++d) {
    const auto& computed = work.devices[d].computed;
    CHECK(std::accumulate(computed.begin(), computed.end(), duration{}) == s.record()->devices[d].time.compute);
  }
  CHECK(e.models[1].time < e.models[0].time);  // it was stopped early
  CHECK(e.models[2].cost->ten_thousandths > 0);
}

TEST_CASE("a run that is under way says of a model that has ended what its report will say", "[expenses]") {
  auto setup = even_run({even_model("short", 2, 3, 2ms, 1ms), even_model("long", 2, 40, 2ms, 1ms)}, 2);
  setup.costs = uneven(2);
  simulation s(std::move(setup));
  s.run_until(s.now() + 5ms);
  s.steer("short", model_command::stop);
  const auto now = [&s] {
    const auto status = s.status();
    return std::pair{status.models[0].spent, status.spent};
  };
  while (s.status().models[0].phase != model_phase::stopped) {
    s.run_until(s.now() + 1ms);
  }
  const auto [stopped, run_then] = now();
  s.run_until(s.now() + 20ms);
  const auto [later, run_later] = now();
  CHECK(run_later.cost->ten_thousandths > run_then.cost->ten_thousandths);
  s.run();
  const auto end = s.record()->spent.models[0];
  for (const auto& e : {later, end}) {  // but for the last digit, as all amounts are rounded together
    CHECK(std::abs(e.cost->ten_thousandths - stopped.cost->ten_thousandths) <= 1);
    CHECK(std::abs(*e.joules - *stopped.joules) <= 1);
  }
}

TEST_CASE("waiting for models that arrive later is not paid, and each pays for its own time", "[expenses]") {
  auto setup = even_run({even_model("a", 2, 9, 2ms, 1ms), even_model("b", 2, 9, 2ms, 1ms)}, 1);
  setup.models[0].terms.arrival = 100ms;
  setup.models[1].terms.arrival = 300ms;
  setup.costs = uneven(1);
  simulation s(std::move(setup));
  s.run_until(s.now() + 50ms);
  CHECK(s.status().spent.cost == money{0});
  s.run();
  const auto& e = s.record()->spent;
  CHECK(e.all.time == makespan(s));
  CHECK(sum(e.models) == e.all);
  CHECK(e.models[0].time > 50ms);
  CHECK(e.models[0].time < 80ms);  // but for what it did not compute
  CHECK(e.models[1].time > 150ms);  // it has kept the device waiting
}

TEST_CASE("devices of a run that lasts until it is shut down are paid for so long", "[expenses]") {
  auto setup = even_run({even_model("a", 2, 9, 2ms, 1ms)}, 2);
  setup.begin_paused = true;
  setup.waiting = {model_id{0}};
  setup.costs = uneven(2);
  simulation s(std::move(setup));
  s.run_until(s.now() + 50ms);
  post(s.actors().supervisor, interrupt_run{});
  s.run();
  REQUIRE(s.record()->work.makespan >= 50ms);
  const auto& e = s.record()->spent;
  CHECK(e.devices[1].time >= 50ms);
  CHECK(sum(e.devices) + e.host == e.all);
  CHECK(e.models[0] == expense{.time = 0s, .cost = money{0}, .joules = 0});  // it was not trained here
}

TEST_CASE("times and amounts have the same digits wherever they are shown", "[expenses]") {
  CHECK(to_string(money{12}) == "0.0012");
  CHECK(to_string(money{1234567}) == "123.4567");
  CHECK(to_string(money{-12345}) == "-1.2345");
  CHECK(clock_text(3723s + 4ms) == "1:02:03.004");
  CHECK(carbon_of(3'600'000, 400) == 400);
}

}  // namespace expenses_test
