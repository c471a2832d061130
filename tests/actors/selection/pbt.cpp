#include "actors/selection/pbt.hpp"

#include "actors/selection/search_record.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <charconv>
#include <set>

using namespace hydra;

namespace {

double number(const std::string& text) {
  double n = -1;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

search_settings settings_of(std::size_t trials, std::uint64_t seed = 0) {
  search_settings s{.kind = search_kind::pbt, .steps = 100, .every = 10, .seed = seed};
  s.space = {{"optimizer.learning_rate", distribution::log_uniform, 1e-4, 1e-2}};
  for (std::size_t i = 0; i < trials; ++i)
    s.trials.push_back({"t" + std::to_string(i), {{"optimizer.learning_rate", "1e-3"}}});
  return s;
}

trial_decision only(const std::vector<trial_decision>& decisions) {
  REQUIRE(decisions.size() == 1);
  return decisions.front();
}

/// A loss that depends on the rate and, by a trial's name, on luck.
double loss(const std::string& trial, const std::string& rate, std::uint32_t steps) {
  portable_random luck{seed_for(7, trial, steps)};
  return std::abs(std::log(number(rate) / 3e-3)) + luck.share();
}

/// A population in a random order; a new trial trains as the others do.
std::vector<search_record> played(pbt& rule, const search_settings& s, std::uint64_t order) {
  struct runner {
    search_trial is;
    std::uint32_t steps = 0;
  };
  std::vector<runner> alive;
  for (const search_trial& t : s.trials) alive.push_back({t});
  portable_random random{order};
  std::vector<search_record> records;
  while (!alive.empty()) {
    const auto at = alive.begin() + random.whole(0, static_cast<std::uint32_t>(alive.size() - 1));
    at->steps += 5;
    const std::string rate = at->is.keys.at(0).value;
    records.push_back(decide(rule, trial_result{at->is.name, at->steps, loss(at->is.name, rate, at->steps)}));
    const trial_decision d = records.back().decisions.at(0);
    const bool over = d.verdict == trial_verdict::stop || at->steps == s.steps;
    if (over) alive.erase(at);
    if (d.copy) alive.push_back({{d.copy->trial, d.copy->keys}, d.copy->steps});
  }
  return records;
}

}  // namespace

TEST_CASE("the worst quarter begins again from the newest state of the best quarter", "[selection]") {
  pbt rule{settings_of(4)};
  CHECK(only(rule.result({"t0", 10, 3})).verdict == trial_verdict::go_on);
  CHECK(only(rule.result({"t1", 10, 1})).verdict == trial_verdict::go_on);
  CHECK(only(rule.result({"t2", 10, 2})).verdict == trial_verdict::go_on);
  rule.result({"t1", 20, 0.5});
  const trial_decision d = only(rule.result({"t3", 10, 4}));
  CHECK(d.verdict == trial_verdict::stop);
  CHECK(d.rank == 4);
  CHECK(d.ranked == 4);
  REQUIRE(d.copy);
  CHECK(d.copy->trial == "t3.2");
  CHECK(d.copy->of == "t1");
  CHECK(d.copy->steps == 20);
  REQUIRE(d.copy->keys.size() == 1);
  CHECK(d.copy->keys[0].key == "optimizer.learning_rate");
  CHECK(d.copy->keys[0].value != "1e-3");
}

TEST_CASE("a result that is not in the worst quarter goes on, and so does one between comparisons", "[selection]") {
  pbt rule{settings_of(4)};
  for (const char* t : {"t0", "t1", "t3"}) rule.result({t, 10, 2});
  CHECK(only(rule.result({"t2", 10, 1})).verdict == trial_verdict::go_on);
  CHECK(only(rule.result({"t2", 15, 9})).rank == 0);
  CHECK(only(rule.result({"t2", 100, 9})).rank == 0);
}

TEST_CASE("a trial that has ended or stopped gives no state", "[selection]") {
  pbt rule{settings_of(4)};
  rule.result({"t0", 10, 1});
  rule.result({"t1", 10, 2});
  rule.result({"t2", 10, 3});
  CHECK(rule.ended("t0").empty());
  CHECK(only(rule.result({"t3", 10, 4})).verdict == trial_verdict::go_on);
}

TEST_CASE("a trial that began again is compared as the others, and may begin again", "[selection]") {
  pbt rule{settings_of(4)};
  for (const char* t : {"t0", "t1", "t2"}) rule.result({t, 10, 1});
  REQUIRE(only(rule.result({"t3", 10, 4})).copy->trial == "t3.2");
  CHECK(only(rule.result({"t3", 20, 0})).verdict == trial_verdict::stop);
  for (const char* t : {"t0", "t1", "t2"}) rule.result({t, 20, 1});
  CHECK(only(rule.result({"t3.2", 20, 4})).copy->trial == "t3.3");
}

TEST_CASE("choices of pbt depend on the seed, the trial and the step, not on what happened before", "[selection]") {
  const auto copy_after = [](std::uint64_t seed, bool with_others) {
    pbt rule{settings_of(8, seed)};
    for (const char* t : {"t0", "t1", "t2"}) rule.result({t, 10, 1});
    if (with_others) rule.result({"t4", 10, 9});
    if (with_others) rule.result({"t5", 20, 9});
    return only(rule.result({"t3", 10, 99})).copy->keys;
  };
  CHECK(copy_after(1, false) == copy_after(1, true));
  std::set<std::string> values;
  for (std::uint64_t seed = 0; seed < 50; ++seed) values.insert(copy_after(seed, false).at(0).value);
  CHECK(values.contains("0.0008"));
  CHECK(values.contains("0.00125"));
  CHECK(values.size() > 5);  // a quarter is drawn again
}

TEST_CASE("a population by pbt finds the good rates", "[selection]") {
  search_settings s = settings_of(16);
  for (std::size_t i = 0; i < 16; ++i) s.trials[i].keys[0].value = std::to_string(1e-4 * static_cast<double>(i + 1));
  pbt rule{s};
  double sum = 0, n = 0;
  for (const search_record& r : played(rule, s, 1))
    for (const trial_decision& d : r.decisions)
      if (d.copy && d.steps >= 80) sum += number(d.copy->keys[0].value), ++n;
  CHECK(n > 0);
  CHECK(sum / n == Approx(3e-3).margin(2e-3));
}

TEST_CASE("a search by pbt that is replayed from any of its decisions on answers as before and carries on",
          "[selection]") {
  for (std::uint64_t order = 0; order < 10; ++order) {
    CAPTURE(order);
    const search_settings s = settings_of(12, order);
    pbt rule{s};
    const std::vector<search_record> all = played(rule, s, order);
    CHECK(std::ranges::any_of(all, [](const search_record& r) { return r.decisions[0].copy.has_value(); }));
    for (std::size_t kept = 0; kept <= all.size(); ++kept) {
      pbt resumed{s};
      replay(resumed, std::span{all}.first(kept));
      bool same = true;
      for (std::size_t i = kept; i < all.size(); ++i)
        same = same && decide(resumed, all[i].event).decisions == all[i].decisions;
      for (auto r = all.rbegin(); r != all.rend(); ++r) {
        const auto& result = std::get<trial_result>(r->event);
        same = same && resumed.result(result) == r->decisions;
      }
      CHECK(same);
    }
  }
}

TEST_CASE("pbt describes itself and knows its next comparison", "[selection]") {
  const pbt rule{settings_of(4)};
  CHECK(rule.describe() == "pbt: 4 trials; every 10 of 100 steps the worst quarter begins again from the best");
  CHECK(rule.next_rung("t0", 0) == 10);
  CHECK(rule.next_rung("t0", 10) == 20);
  CHECK(rule.next_rung("t0", 95) == 100);
  CHECK_THROWS_AS(pbt{search_settings{.kind = search_kind::pbt}}, fault_error);
}
