// A search whose trials do not all fit into memory, message by message, under virtual time.

#include "actors/selection/search_rules.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/small_run.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <functional>
#include <ios>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t steps = 9;

/// All have the same losses: the first ones of the workload win.
std::vector<simulated_model> trials() {
  std::vector<simulated_model> all;
  for (int i = 0; i < 9; ++i) {
    auto m = even_model(fmt::format("t{}", i), 1 + i % 2, steps, 2ms, 1ms);
    m.evaluation = {.every = 1, .range = {.micro_batches = 1, .round = 1}};
    all.push_back(std::move(m));
  }
  return all;
}

/// Halving after 1 and 3 of 9 steps; memory for `admitted` of them.
simulation_setup search_run(memory_store& store, std::size_t admitted, std::size_t devices, search_kind kind) {
  auto setup = even_run(trials(), devices);
  std::vector<model_plan> plans;
  search_settings settings{.kind = kind, .steps = steps, .first = 1, .factor = 3, .every = 3};
  for (std::uint32_t i = 0; i < setup.models.size(); ++i) {
    settings.trials.push_back({setup.models[i].name});
    setup.search.trials.insert(setup.models[i].name);
    if (i < admitted) {
      plans.push_back(make_simulated_model(setup.models[1])->plan);  // of two shards, the larger ones
    } else {
      setup.waiting.insert(model_id{i});
    }
  }
  setup.planned_memory = host_demand(plans, devices);
  setup.search.rule = make_search_rule(settings);
  setup.checkpoints = {.store = &store, .every_steps = 0, .every = {}};
  setup.saved = [&store](const std::string& model) -> std::optional<model_checkpoint> {
    const auto& all = store.of(model);
    return all.empty() ? std::nullopt : std::optional(all.back());
  };
  return setup;
}

/// In each way in which C++ reports it.
[[noreturn]] void fail_as_full(std::size_t n) {
  const std::string what = "no space left";
  if (n % 3 == 0) throw fault_error(fault_code::io, what);
  if (n % 3 == 1) throw std::ios_base::failure(what);
  throw std::filesystem::filesystem_error(what, "search.jsonl", std::make_error_code(std::errc::no_space_on_device));
}

/// A disk that is full for a while: of the attempts to write a record those from number `first` on, `count` in all.
struct failing_log {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t attempts = 0;
  std::vector<search_record> written;

  std::function<void(const search_record&)> hook() {
    return [this](const search_record& r) {
      const auto n = attempts++;
      if (n >= first && n - first < count) fail_as_full(n);
      written.push_back(r);
    };
  }
};

std::vector<std::uint32_t> steps_of(const simulation& s) {
  std::vector<std::uint32_t> all;
  for (const auto& m : s.record()->models) {
    all.push_back(m.steps);
  }
  return all;
}

struct full_for_a_while final : checkpoint_store {
  void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) override {
    if (is_full()) {
      ++failures;
      throw fault_error(fault_code::io, "no space left");
    }
    all.save(c, saved);
  }
  memory_store all;
  std::function<bool()> is_full;
  std::size_t failures = 0;
};

const std::vector<std::uint32_t> expected{9, 3, 3, 1, 1, 1, 1, 1, 1};

/// Random order of messages; with odd seeds every fourth write of a decision fails. Empty, or what went wrong.
std::string search_at_random(std::uint32_t seed) {
  std::mt19937 random(seed);
  memory_store store;
  auto setup = search_run(store, 1 + seed % 4, 1 + seed % 2, search_kind::halving);
  setup.search.hooks.record = [&random, fails = seed % 2 == 1](const search_record&) {
    if (fails && random() % 4 == 0) throw fault_error(fault_code::io, "no space left");
  };
  simulation s(std::move(setup));
  for (int n = 0; n < 200'000 && s.step(random()); ++n) {
  }
  if (!s.record()) {
    return fmt::format("seed {}: the run hangs", seed);
  }
  const auto seen = steps_of(s);
  const auto leftovers = s.record()->leftovers;
  return seen == expected && leftovers.empty() ? ""
                                               : fmt::format("seed {}: {} {}", seed, fmt::join(seen, " "), leftovers);
}

}  // namespace

TEST_CASE("trials that cannot be saved to give their memory to others are tried again after a while", "[search]") {
  full_for_a_while store;
  auto setup = search_run(store.all, 3, 2, search_kind::halving);
  setup.checkpoints.store = &store;
  simulation s(std::move(setup));
  store.is_full = [&s, until = s.now() + 10s] { return s.now() < until; };
  s.run();
  REQUIRE(s.record());
  CHECK(steps_of(s) == expected);
  CHECK(store.failures > 3);
  CHECK(store.failures <= 3 * 5);  // each at first, and after 1, 3, 7 s, and perhaps once more
}

TEST_CASE("trials that wait for their rung give their memory to those that have not reached it", "[search]") {
  for (std::size_t admitted = 1; admitted <= 9; ++admitted) {
    INFO(admitted << " of 9 trials have memory at the start");
    memory_store store;
    const auto s = finished(search_run(store, admitted, 2, search_kind::halving));
    CHECK(steps_of(*s) == expected);
    CHECK(s->record()->models[0].stopped == false);
    CHECK(s->record()->models[8].stopped);
    CHECK(s->record()->leftovers == "");
  }
}

TEST_CASE("a failed or stopped trial is not waited for", "[search]") {
  memory_store store;
  simulation s(search_run(store, 9, 1, search_kind::halving));
  for (int i = 0; i < 30; ++i) {
    s.step();
  }
  s.steer("t0", model_command::stop);
  s.run();
  REQUIRE(s.record());
  CHECK(s.record()->models[0].steps <= 1);
  CHECK(s.record()->models[1].steps + s.record()->models[2].steps >= 12);
}

namespace {

/// Without a record after an hour: it waits.
void let_an_hour_pass(simulation& s) {
  const auto later = s.now() + 1h;
  while (!s.record() && s.now() < later && s.step()) {
  }
}

/// Decides nothing.
struct undecided final : search_rule {
  std::string describe() const override { return "undecided"; }
  std::vector<trial_decision> result(const trial_result& r) override { return {{r.trial, r.steps}}; }
  std::vector<trial_decision> ended(const std::string&) override { return {}; }
};

/// Asks elsewhere.
struct asking final : search_rule {
  std::string describe() const override { return "asking"; }
  std::vector<trial_decision> result(const trial_result& r) override {
    asked.push_back(r);
    return {};
  }
  std::vector<trial_decision> ended(const std::string&) override { return {}; }
  std::vector<trial_result> asked;
};

/// Decides nothing, and throws at the fifth result.
struct confused final : search_rule {
  std::string describe() const override { return "confused"; }
  std::vector<trial_decision> result(const trial_result& r) override {
    if (++results > 4) throw std::runtime_error("lost count");
    return {{r.trial, r.steps}};
  }
  std::vector<trial_decision> ended(const std::string&) override { return {}; }
  int results = 0;
};

/// The first checkpoint is complete only after `meanwhile`; its shards may be stepped before.
struct slow_store final : checkpoint_store {
  void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) override {
    all.save(c, saved);
    if (const auto first = std::exchange(meanwhile, nullptr)) first();
  }
  memory_store all;
  std::function<void()> meanwhile;
};

}  // namespace

TEST_CASE("a rule that asks elsewhere is told later, or before its trial is there", "[search]") {
  const std::size_t admitted = GENERATE(9, 2);
  INFO(admitted << " of 9 trials have memory at the start");
  memory_store store;
  auto setup = search_run(store, admitted, 2, search_kind::halving);
  const auto rule = std::make_shared<asking>();
  setup.search.rule = rule;
  setup.stall_limit = 1s;
  simulation s(std::move(setup));
  s.decided({"t5", 2, trial_verdict::stop});  // it is not there yet
  std::size_t told = 0;
  for (int n = 0; n < 200'000 && !s.record(); ++n) {
    if (told < rule->asked.size()) {
      const auto r = rule->asked[told++];
      const bool stops = r.trial != "t4" && r.steps == 3;
      s.decided({r.trial, r.steps, stops ? trial_verdict::stop : trial_verdict::go_on});
      s.decided({r.trial, r.steps, trial_verdict::stop});  // the first one counts
    } else if (!s.step()) {
      break;
    }
  }
  REQUIRE(s.record());
  CHECK(steps_of(s) == std::vector<std::uint32_t>{3, 3, 3, 3, 9, 2, 3, 3, 3});
  CHECK(s.record()->leftovers == "");
}

TEST_CASE("a trial that is to leave between two steps does, also when it is being evaluated, or waits", "[search]") {
  for (int n = 1; n < 1200; n += 7) {
    INFO("after " << n << " messages");
    memory_store store;
    auto setup = search_run(store, 9, 2, search_kind::halving);
    setup.search.rule = std::make_shared<undecided>();
    simulation s(std::move(setup));
    for (int i = 0; i < n; ++i) s.step();
    s.steer("t1", model_command::pause_between_steps);
    let_an_hour_pass(s);
    REQUIRE(!s.record());
    CHECK(s.status().models[1].phase == model_phase::paused);
  }
}

TEST_CASE("a run whose trials all wait for a paused one waits for a command", "[search]") {
  const std::size_t admitted = GENERATE(9, 3);
  INFO(admitted << " of 9 trials have memory at the start");
  memory_store store;
  auto setup = search_run(store, admitted, 2, search_kind::halving);
  setup.stall_limit = 1s;
  simulation s(std::move(setup));
  s.step();
  s.steer("t1", model_command::pause);
  let_an_hour_pass(s);
  REQUIRE(!s.record());
  SECTION("to resume it") {
    s.steer("t1", model_command::resume);
    s.run();
    REQUIRE(s.record());
    CHECK(steps_of(s) == expected);
  }
  SECTION("to stop it") {
    s.steer("t1", model_command::stop);
    s.run();
    REQUIRE(s.record());
    CHECK(steps_of(s)[0] == steps);
  }
  CHECK(s.record()->aborted.text == "");
}

TEST_CASE("a trial that waits for its decision can be paused, but not resumed", "[search]") {
  const std::size_t admitted = GENERATE(9, 3);  // with memory, and as one that has given it to others
  INFO(admitted << " of 9 trials have memory at the start");
  memory_store store;
  simulation s(search_run(store, admitted, 2, search_kind::halving));
  s.step();
  s.steer("t1", model_command::pause);
  let_an_hour_pass(s);
  std::optional<run_status> now;
  post(s.actors().supervisor, read_status{[&now](run_status status) { now = std::move(status); }});
  s.steer("t0", model_command::resume);
  s.steer("t0", model_command::pause);
  let_an_hour_pass(s);
  REQUIRE(now);
  CHECK(now->models[0].phase == model_phase::waiting);
  CHECK(now->models[0].note == "for the decision of the search");
  CHECK(now->models[1].phase == model_phase::paused);
  CHECK(now->models[1].note == "nothing else is left to train");
  REQUIRE(s.answers().size() == 3);
  CHECK_THAT(s.answers()[1].text, Catch::Contains("'t0' cannot be resumed: it waits for the decision of the search"));
  CHECK(!s.answers()[2]);
  s.steer("t1", model_command::resume);
  let_an_hour_pass(s);
  REQUIRE(!s.record());  // the decision does not resume what was paused by command
  s.steer("t0", model_command::resume);
  s.run();
  REQUIRE(s.record());
  CHECK(steps_of(s) == expected);
}

TEST_CASE("a trial that waits is saved where it waits, also while an earlier checkpoint is not complete", "[search]") {
  slow_store store;
  auto m = even_model("t0", 1, steps, 2ms, 1ms);
  m.evaluation = {.every = 3, .range = {.micro_batches = 1, .round = 1}};
  auto setup = even_run({m}, 1);
  setup.search.rule = std::make_shared<undecided>();
  setup.search.trials = {"t0"};
  setup.checkpoints = {.store = &store, .every_steps = 2, .every = {}};
  simulation s(std::move(setup));
  store.meanwhile = [&s] {  // that after 2 steps is under way, and the trial waits after 3
    let_an_hour_pass(s);
    s.steer("t0", model_command::save);
    let_an_hour_pass(s);
  };
  let_an_hour_pass(s);
  let_an_hour_pass(s);
  REQUIRE(s.answers().size() == 1);
  CHECK(!s.answers()[0]);
  CHECK(store.all.of("t0").back().standing.next.step == 3);
}

TEST_CASE("a rule that throws decides nothing any more: all trials train to their end, and callbacks are called",
          "[search]") {
  for (const std::size_t admitted : {9, 3}) {
    INFO(admitted << " of 9 trials have memory at the start");
    memory_store store;
    auto setup = search_run(store, admitted, 2, search_kind::halving);
    setup.search.rule = std::make_shared<confused>();
    std::size_t seen = 0;
    setup.callbacks.add<step_completed>([&](const step_completed&, control&) { ++seen; });
    const auto s = finished(std::move(setup));
    CHECK(steps_of(*s) == std::vector<std::uint32_t>(9, steps));
    CHECK(seen >= 9 * steps);
    REQUIRE(s->record()->callbacks_failed.size() == 1);
    CHECK_THAT(s->record()->callbacks_failed[0],
               Catch::Contains("the search failed after step 1 of ") && Catch::Contains("lost count"));
    CHECK(s->record()->callbacks_lost == "");
    CHECK(s->record()->leftovers == "");
  }
}

TEST_CASE("trials that wait for a decision that never comes are a stall", "[search]") {
  for (const std::size_t admitted : {9, 3}) {
    memory_store store;
    auto setup = search_run(store, admitted, 2, search_kind::halving);
    setup.search.rule = std::make_shared<undecided>();
    setup.stall_limit = 1s;
    const auto s = finished(std::move(setup));
    CHECK_THAT(s->record()->aborted.text, Catch::Contains("no progress for 1.000 s"));
  }
}

TEST_CASE("an asynchronous search ends, whatever memory it has", "[search]") {
  for (const std::size_t admitted : {1, 2, 5, 9}) {
    memory_store store;
    const auto s = finished(search_run(store, admitted, 2, search_kind::asha));
    CHECK(std::ranges::max(steps_of(*s)) == steps);
  }
}

TEST_CASE("a trial waits until the copies of it have begun", "[search]") {
  const std::size_t admitted = GENERATE(9, 3);
  INFO(admitted << " of 9 trials have memory at the start");
  memory_store store;
  auto setup = search_run(store, admitted, 2, search_kind::pbt);
  std::set<std::string> begun;
  setup.search.hooks.copy = [&begun](const trial_copy& c) { begun.insert(c.trial); };
  simulation s(std::move(setup));
  const auto fail_all = [&] {
    for (const auto& copy : begun) s.copy_begun(copy, false);
  };
  let_an_hour_pass(s);
  REQUIRE(!s.record());
  REQUIRE(begun.size() == 2);  // of nine
  fail_all();                  // seven are left
  let_an_hour_pass(s);
  REQUIRE(!s.record());
  REQUIRE(begun.size() == 3);
  fail_all();
  s.run();
  REQUIRE(s.record());
  CHECK(std::ranges::count_if(s.record()->models, [](const auto& m) { return m.stopped; }) == 3);
  CHECK(s.record()->leftovers == "");
}

TEST_CASE("decisions that could not be written for a while are written in their order, and are the same", "[search]") {
  for (const std::size_t admitted : {9, 3}) {
    for (std::size_t first = 0; first < 16; ++first) {
      INFO(admitted << " of 9 trials have memory at the start, write " << first << " fails");
      failing_log log{.first = first, .count = first % 4, .written = {}};
      memory_store store;
      auto setup = search_run(store, admitted, 2, search_kind::halving);
      setup.search.hooks.record = log.hook();
      const auto again = search_run(store, admitted, 2, search_kind::halving).search.rule;
      const auto s = finished(std::move(setup));
      CHECK(steps_of(*s) == expected);
      CHECK(s->record()->leftovers == "");
      CHECK(log.attempts == log.written.size() + log.count);
      CHECK_NOTHROW(replay(*again, log.written));
    }
  }
}

TEST_CASE("nothing is carried out that is not written: the trials wait for the disk as long as they may", "[search]") {
  const std::size_t admitted = GENERATE(9, 3);
  INFO(admitted << " of 9 trials have memory at the start");
  failing_log log{.first = 8, .count = 1'000'000, .written = {}};  // the last one of the first rung
  memory_store store;
  auto setup = search_run(store, admitted, 2, search_kind::halving);
  setup.search.hooks.record = log.hook();
  simulation s(std::move(setup));
  let_an_hour_pass(s);
  REQUIRE(!s.record());
  CHECK(log.written.size() == 8);
  CHECK(log.attempts < 8 + 100);  // longer and longer apart
  for (const auto& m : s.status().models) CHECK(m.note == "for the decision of the search");
  log.count = 0;
  s.run();
  REQUIRE(s.record());
  CHECK(steps_of(s) == expected);
}

TEST_CASE("a search whose decisions cannot be written ends with its trials saved, and goes on when it is resumed",
          "[search]") {
  failing_log log{.first = 10, .count = 1'000'000, .written = {}};
  memory_store store;
  auto setup = search_run(store, 9, 2, search_kind::halving);
  setup.callback_limit = 5min;
  setup.search.hooks.record = log.hook();
  const auto first = finished(std::move(setup));
  std::vector<model_checkpoint> saved;
  for (const auto& m : first->record()->models) {
    const bool decided = saved.size() >= 3;  // by the first rung
    CHECK(m.stopped == decided);
    CHECK(m.why.code == (decided ? fault_code::none : fault_code::io));
    CHECK_THAT(m.why.text, Catch::Contains(decided ? "" : "could not be recorded for 300.000 s: ") &&
                               Catch::Contains(decided ? "" : "o space left"));
    saved.push_back(store.of("t" + std::to_string(saved.size())).back());
  }
  auto resumed = search_run(store, 9, 2, search_kind::halving);
  resumed.resumed = std::move(saved);
  replay(*resumed.search.rule, log.written);
  for (const auto& r : log.written)
    for (const auto& d : r.decisions)
      if (d.verdict == trial_verdict::stop) resumed.search.stopped.emplace(d.trial, d.steps);
  CHECK(steps_of(*finished(std::move(resumed))) == expected);
}

TEST_CASE("a trial that a callback stops has ended for the search before it is saved", "[search]") {
  struct watching_store final : checkpoint_store {
    void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) override {
      all.save(c, saved);
      if (c.what->name == "t0" && c.standing.stopped) before = log.written;
    }
    memory_store all;
    failing_log log;
    std::vector<search_record> before;
  };
  watching_store store;
  auto setup = search_run(store.all, 9, 2, search_kind::halving);
  setup.checkpoints.store = &store;
  setup.search.hooks.record = store.log.hook();
  setup.callbacks.add<evaluation_completed>([](const evaluation_completed& e, control& c) {
    if (e.name == "t0") c.stop(e.model);
  });
  const auto s = finished(std::move(setup));
  CHECK(s->record()->models[0].steps == 1);
  const auto ends = [](const search_record& r) { return r.event == search_event{trial_ended{"t0"}}; };
  CHECK(std::ranges::count_if(store.before, ends) == 1);
  CHECK(std::ranges::count_if(store.log.written, ends) == 1);
}

TEST_CASE("whatever the order of messages, a search decides the same and no trial is left waiting", "[search][fuzz]") {
  for (const std::uint32_t seed : seeds(300)) {
    REQUIRE(search_at_random(seed) == "");
  }
}
