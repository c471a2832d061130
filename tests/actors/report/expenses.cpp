#include "actors/report/expenses.hpp"

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
    std::vector<duration> weights(random() % 20 + 1);
    for (auto& w : weights) {
      w = duration{static_cast<std::int64_t>(random() % 4 == 0 ? 0 : random() % 1'000'000'000)};
    }
    const auto total = static_cast<std::int64_t>(random() % 100'000);
    const auto all = std::accumulate(weights.begin(), weights.end(), duration{});
    const auto shares = apportioned(total, weights);
    REQUIRE(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}) == total);
    for (std::size_t i = 0; i < shares.size() && all > duration{}; ++i) {
      REQUIRE(shares[i] >= 0);
      REQUIRE(std::abs(static_cast<double>(shares[i]) -
                       static_cast<double>(total) * seconds(weights[i]) / seconds(all)) < 1 + 1e-6);
    }
  }
}

TEST_CASE("without weights shares are equal", "[expenses]") {
  CHECK(apportioned(9, std::vector<duration>(3)) == std::vector<std::int64_t>{3, 3, 3});
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

TEST_CASE("models add up to the run, which was paused, has lost a device and has got a model", "[expenses]") {
  auto setup = even_run({even_model("a", 2, 9, 2ms, 1ms), even_model("b", 3, 7, 3ms, 1ms)}, 2);
  setup.joiners = {even_model("late", 2, 3, 2ms, 1ms)};
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
  const auto e = expenses_of(work, uneven(2));
  CHECK(sum(e.models) == e.all);
  CHECK(sum(e.devices) + e.host == e.all);
  for (std::size_t d = 0; d < 2; ++d) {
    const auto& computed = work.devices[d].computed;
    CHECK(std::accumulate(computed.begin(), computed.end(), duration{}) == s.record()->devices[d].time.compute);
  }
  CHECK(e.models[1].time < e.models[0].time);  // it was stopped early
  CHECK(e.models[2].cost->ten_thousandths > 0);
}

TEST_CASE("times and amounts have the same digits wherever they are shown", "[expenses]") {
  CHECK(to_string(money{12}) == "0.0012");
  CHECK(to_string(money{1234567}) == "123.4567");
  CHECK(clock_text(3723s + 4ms) == "1:02:03.004");
  CHECK(carbon_of(3'600'000, 400) == 400);
}

}  // namespace expenses_test
