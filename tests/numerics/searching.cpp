// A search trains for real: the same decisions under every schedule, and the bits of plain training.

#include "actors/selection/search_rules.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/mixed_workload.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watched_device.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
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
  std::optional<std::size_t> last_dies_at{};  ///< operation at which the last device dies
  std::size_t interruptions = 0;              ///< at moments of the seed
  std::uint32_t seed = 0;
};

struct searched {
  report summary;
  std::vector<search_record> records;
  std::size_t parts = 0;
  std::size_t devices_lost = 0;
  bool complete = false;  ///< a run that is resumed after the end has nothing to do
};

void add_devices(session& s, const schedule& how) {
  for (std::size_t i = 0; i < how.devices.size(); ++i) {
    const bool mortal = how.last_dies_at && i + 1 == how.devices.size();
    const auto before = mortal ? dies(*how.last_dies_at) : before_operation([](const operation&) {});
    s.add_device("cpu", [before, of = how.devices[i]](const std::string& name) {
      return std::make_unique<watched_device>(make_cpu_device(name, of), before);
    });
  }
}

void set_up(session& s, search_kind kind, const schedule& how, searched& all) {
  add_devices(s, how);
  s.use_policy(how.policy);
  const auto models = trials();
  for (std::size_t i = 0; i < models.size(); ++i) s.add_model(describe(models[i], i));
  const auto earlier = all.records;
  s.use_search(settings_of(kind), {.record = [&](const search_record& r) { all.records.push_back(r); }}, earlier);
}

/// In as many parts as it is interrupted; the devices of each part are those of the schedule.
searched search(search_kind kind, const schedule& how) {
  const temporary_folder folder;
  std::mt19937 random(how.seed);
  searched all;
  const auto options = [&](bool resumes) -> session_options {
    return {.host_memory = how.host, .output = folder.path() / "run", .log = verbosity::quiet, .resume = resumes};
  };
  while (true) {
    const bool resumes = all.parts++ > 0;
    session s{options(resumes)};
    set_up(s, kind, how, all);
    if (all.parts <= how.interruptions) {
      s.on<step_completed>([&, left = 1 + random() % 8](const step_completed&, control&) mutable {
        if (--left == 0) s.interrupt();
      });
    }
    all.summary = s.run();
    all.devices_lost += all.summary.devices.back().lost;
    if (!all.summary.interrupted) {
      session again{options(true)};
      set_up(again, kind, how, all);
      all.complete = again.complete();
      return all;
    }
    REQUIRE(all.parts < 20);
  }
}

/// How far each trial got.
std::vector<std::uint32_t> reached(const report& r) {
  std::vector<std::uint32_t> all;
  for (const auto& m : r.models) all.push_back(m.steps);
  return all;
}

/// What was decided about which trial after how many steps, and its rank.
std::map<std::pair<std::string, std::uint32_t>, std::pair<trial_verdict, std::uint32_t>> decided(const searched& s) {
  std::map<std::pair<std::string, std::uint32_t>, std::pair<trial_verdict, std::uint32_t>> all;
  for (const auto& r : s.records)
    for (const auto& d : r.decisions)
      if (d.verdict != trial_verdict::wait) all[{d.trial, d.steps}] = {d.verdict, d.rank};
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

/// Of every policy that can end a search, with one to three devices.
schedule some_schedule(std::uint32_t seed) {
  static const std::vector<std::string> policies{"sharded-lrtf", "stay-pace", "fifo", "round-robin", "lpt"};
  static const auto scarce =
      planned_host_memory({trials()[0], trials()[1], trials()[2]}, {.devices = {roomy(), roomy(), roomy()}});
  std::mt19937 random(seed);
  schedule how{.policy = policies[seed % policies.size()], .interruptions = random() % 4, .seed = seed};
  while (how.devices.size() < 1 + seed % 3) how.devices.push_back(random() % 2 == 0 ? tiny() : roomy());
  if (random() % 2 == 0) how.host = scarce;
  if (how.devices.size() > 1 && random() % 3 > 0) how.last_dies_at = random() % 200;
  return how;
}

}  // namespace

TEST_CASE("halving and hyperband decide the same under every schedule, with little memory, after the death of a device "
          "and after interruptions",
          "[search]") {
  for (const auto kind : {search_kind::halving, search_kind::hyperband}) {
    const auto first = search(kind, {});
    CHECK(std::ranges::count(reached(first.summary), steps) >= 1);
    CHECK(std::ranges::count(reached(first.summary), steps) < 9);
    std::size_t lost = 0;
    std::size_t parts = 0;
    std::vector<std::uint32_t> all(20);
    std::iota(all.begin(), all.end(), 1);
    for (const auto seed : sampled(all, 4)) {
      INFO(to_string(kind) << ", schedule " << seed);
      const auto result = search(kind, some_schedule(seed));
      CHECK(decided(result) == decided(first));
      CHECK(reached(result.summary) == reached(first.summary));
      CHECK(other_losses(result.summary) == "");
      CHECK(result.complete);
      lost += result.devices_lost;
      parts += result.parts;
    }
    if (is_deep()) {
      CHECK(lost >= 5);
      CHECK(parts >= 40);
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

TEST_CASE("decisions whose records are lost are made again from the checkpoints of the trials", "[search]") {
  const temporary_folder folder;
  searched all;
  const auto part = [&](bool resumes) {
    session s{{.output = folder.path() / "run", .log = verbosity::quiet, .resume = resumes}};
    set_up(s, search_kind::halving, {}, all);
    CHECK(!s.complete());
    all.summary = s.run();
  };
  part(false);
  const auto decisions = decided(all);
  const auto steps_reached = reached(all.summary);
  all.records.resize(5);  // inside the first rung
  part(true);
  CHECK(decided(all) == decisions);
  CHECK(reached(all.summary) == steps_reached);
  CHECK(other_losses(all.summary) == "");
}

TEST_CASE("a search that would never end is refused", "[search]") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, roomy());
  s.use_policy("whole-model");
  s.add_model(describe(trials()[0], 0));
  s.use_search(settings_of(search_kind::halving));
  CHECK_THROWS_WITH(s.run(), Catch::Contains("whole-model") && Catch::Contains("use another policy"));
}
