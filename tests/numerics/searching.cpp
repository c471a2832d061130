// A search trains for real: the same decisions under every schedule, and the bits of plain training.

#include "actors/selection/search_rules.hpp"
#include "tests/support/mixed_workload.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <mutex>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

constexpr std::uint32_t steps = 9;

/// Different rates: the losses rank them.
std::vector<exact_case> trials() {
  std::vector<exact_case> all;
  for (int i = 0; i < 9; ++i) {
    auto t = tiny_gpt(0.0, true);
    t.steps = steps;
    t.evaluate_every = 1;
    t.cuts = {};
    t.optimizer = sgd({.learning_rate = 0.4 * std::pow(0.6, (i * 5) % 9)});
    all.push_back(t);
  }
  return all;
}

search_settings settings_of(search_kind kind) {
  search_settings s{.kind = kind, .steps = steps, .first = 1, .factor = 3};
  for (int i = 0; i < 9; ++i) {
    s.trials.push_back({fmt::format("model-{}", i)});
  }
  return s;
}

struct schedule {
  std::vector<cpu_device> devices{roomy()};
  std::string policy = "sharded-lrtf";
  byte_count host{};
  int interruptions = 0;  ///< each after some steps of the run
};

struct searched {
  report summary;
  std::vector<search_record> records;
};

/// In as many parts as it is interrupted.
searched search(search_kind kind, const schedule& how) {
  const temporary_folder folder;
  searched all;
  for (int part = 0;; ++part) {
    session s{{.host_memory = how.host, .output = folder.path() / "run", .log = verbosity::quiet, .resume = part > 0}};
    for (const auto& d : how.devices) s.add_devices(1, d);
    s.use_policy(how.policy);
    const auto models = trials();
    for (std::size_t i = 0; i < models.size(); ++i) s.add_model(describe(models[i], i));
    const auto earlier = all.records;
    s.use_search(
        settings_of(kind), [&](const search_record& r) { all.records.push_back(r); }, earlier);
    if (part < how.interruptions) {
      s.on<step_completed>([&, count = 0](const step_completed&, control&) mutable {
        if (++count == 6) s.interrupt();
      });
    }
    all.summary = s.run();
    if (!all.summary.interrupted) {
      return all;
    }
    REQUIRE(part < 20);
  }
}

/// How far each trial got.
std::vector<std::uint32_t> reached(const report& r) {
  std::vector<std::uint32_t> all;
  for (const auto& m : r.models) all.push_back(m.steps);
  return all;
}

/// The first trial whose losses are not those of plain training as far as it got; empty if there is none.
std::string other_losses(const report& r) {
  static const auto plain = train_plain(trials());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const auto& is = r.models[i].loss;
    if (!std::equal(is.begin(), is.end(), plain[i].losses.begin())) return r.models[i].name;
  }
  return {};
}

std::vector<schedule> schedules() {
  const auto host = planned_host_memory({trials()[0], trials()[1], trials()[2]}, {.devices = {roomy(), roomy()}});
  return {{},
          {.devices = {roomy(), roomy()}},
          {.policy = "fifo"},
          {.devices = {roomy(), roomy()}, .policy = "round-robin"},
          {.devices = {tiny(), roomy()}, .policy = "lpt"},
          {.host = host},
          {.devices = {roomy(), roomy()}, .host = host},
          {.policy = "fifo", .host = host},
          {.interruptions = 3},
          {.devices = {roomy(), roomy()}, .host = host, .interruptions = 4}};
}

}  // namespace

TEST_CASE("halving and hyperband decide the same under every schedule, with little memory and after interruptions",
          "[search]") {
  for (const auto kind : {search_kind::halving, search_kind::hyperband}) {
    const auto first = reached(search(kind, {}).summary);
    CHECK(std::ranges::count(first, steps) >= 1);
    CHECK(std::ranges::count(first, steps) < 9);
    int n = 0;
    for (const auto& how : schedules()) {
      INFO(to_string(kind) << ", schedule " << n++);
      const auto result = search(kind, how);
      CHECK(reached(result.summary) == first);
      CHECK(other_losses(result.summary) == "");
    }
  }
}

TEST_CASE("the winner of halving is the best of all, for less work", "[search]") {
  const auto plain = train_plain(trials());
  const auto result = search(search_kind::halving, {});
  std::uint32_t work = 0;
  for (const auto n : reached(result.summary)) work += n;
  CHECK(work * 2 <= steps * 9);
  const auto best =
      std::ranges::min_element(plain, {}, [](const auto& p) { return p.evaluations.back().loss; }) - plain.begin();
  CHECK(result.summary.models[static_cast<std::size_t>(best)].steps == steps);
}

TEST_CASE("a resumed asynchronous search repeats its decisions", "[search]") {
  const auto whole = search(search_kind::asha, {.interruptions = 4});
  auto rule = make_search_rule(settings_of(search_kind::asha));
  CHECK_NOTHROW(replay(*rule, whole.records));
  CHECK(other_losses(whole.summary) == "");
  CHECK(std::ranges::count(reached(whole.summary), steps) >= 1);
}

TEST_CASE("a search that would never end is refused", "[search]") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, roomy());
  s.use_policy("whole-model");
  s.add_model(describe(trials()[0], 0));
  s.use_search(settings_of(search_kind::halving));
  CHECK_THROWS_WITH(s.run(), Catch::Contains("whole-model") && Catch::Contains("use another policy"));
}
