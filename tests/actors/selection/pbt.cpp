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

/// A population in a random order; a copy trains as the others do. Some results are reported twice.
std::vector<search_record> played(pbt& rule, const search_settings& s, std::uint64_t order) {
  struct runner {
    search_trial is;
    std::uint32_t steps = 0;
    bool waits = false;
  };
  std::vector<runner> alive;
  for (const search_trial& t : s.trials) alive.push_back({t});
  portable_random random{order};
  std::vector<search_record> records;
  while (!alive.empty()) {
    runner& at = alive[random.whole(0, static_cast<std::uint32_t>(alive.size() - 1))];
    if (at.waits && random.share() < 0.9) continue;
    at.steps += at.waits ? 0 : 5;
    at.waits = true;
    records.push_back(
        decide(rule, trial_result{at.is.name, at.steps, loss(at.is.name, at.is.keys.at(0).value, at.steps)}));
    for (const trial_decision& d : records.back().decisions) {
      const auto of = std::ranges::find(alive, d.trial, [](const runner& r) { return r.is.name; });
      if (of == alive.end() || of->steps != d.steps || d.verdict == trial_verdict::wait) continue;
      of->waits = false;
      if (d.verdict == trial_verdict::stop || of->steps == s.steps) alive.erase(of);
      if (d.copy) alive.push_back({{d.copy->trial, d.copy->keys}, d.copy->steps});
    }
  }
  return records;
}

/// Without waits and repetitions: "t3@10 4/4 t3.pbt2 of t1 0.0008".
std::set<std::string> decided_in(const std::vector<search_record>& records) {
  std::set<std::string> all;
  for (const search_record& r : records)
    for (const trial_decision& d : r.decisions) {
      if (d.rank == 0) continue;
      all.insert(d.trial + "@" + std::to_string(d.steps) + " " + std::to_string(d.rank) + "/" +
                 std::to_string(d.ranked) +
                 (d.copy ? " " + d.copy->trial + " of " + d.copy->of + " " + d.copy->keys.at(0).value : ""));
    }
  return all;
}

/// All of the first four trials, t3 last; its loss is the worst.
std::vector<trial_decision> first_comparison(pbt& rule) {
  for (const char* t : {"t0", "t1", "t2"})
    CHECK(only(rule.result({t, 10, t[1] == '1' ? 1.0 : 2.0})).verdict == trial_verdict::wait);
  return rule.result({"t3", 10, 4});
}

}  // namespace

TEST_CASE("when all have arrived the worst quarter begins again from the state of the best quarter", "[selection]") {
  pbt rule{settings_of(4)};
  const std::vector<trial_decision> made = first_comparison(rule);
  REQUIRE(made.size() == 4);
  const trial_decision& d = made.front();
  CHECK(d.trial == "t3");
  CHECK(d.verdict == trial_verdict::stop);
  CHECK(d.rank == 4);
  CHECK(d.ranked == 4);
  REQUIRE(d.copy);
  CHECK(d.copy->trial == "t3.pbt2");
  CHECK(d.copy->of == "t1");
  CHECK(d.copy->steps == 10);
  REQUIRE(d.copy->keys.size() == 1);
  CHECK(d.copy->keys[0].key == "optimizer.learning_rate");
  CHECK(d.copy->keys[0].value != "1e-3");
  CHECK(std::ranges::count(made, trial_verdict::go_on, &trial_decision::verdict) == 3);
}

TEST_CASE("between comparisons and at its end a trial goes on", "[selection]") {
  pbt rule{settings_of(4)};
  CHECK(only(rule.result({"t2", 5, 9})).verdict == trial_verdict::go_on);
  CHECK(only(rule.result({"t2", 100, 9})).verdict == trial_verdict::go_on);
}

TEST_CASE("a population does not wait for a trial that has ended, and fewer than four are not replaced",
          "[selection]") {
  pbt rule{settings_of(4)};
  rule.result({"t0", 10, 1});
  rule.result({"t1", 10, 2});
  rule.result({"t2", 10, 3});
  const std::vector<trial_decision> made = rule.ended("t3");
  REQUIRE(made.size() == 3);
  CHECK(std::ranges::count(made, trial_verdict::go_on, &trial_decision::verdict) == 3);
}

TEST_CASE("a copy is compared as the others, and may be replaced itself", "[selection]") {
  pbt rule{settings_of(4)};
  first_comparison(rule);
  CHECK(only(rule.result({"t3.pbt2", 10, 2})).verdict == trial_verdict::go_on);  // as it begins
  CHECK(only(rule.result({"t3", 20, 0})).verdict == trial_verdict::stop);
  for (const char* t : {"t0", "t1", "t2"}) CHECK(only(rule.result({t, 20, 1})).verdict == trial_verdict::wait);
  CHECK(rule.result({"t3.pbt2", 20, 4}).front().copy->trial == "t3.pbt3");
}

TEST_CASE("pbt decides the same in every order of events", "[selection]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const search_settings s = settings_of(12, seed);
    const auto decided_in_order = [&](std::uint64_t order) {
      pbt rule{s};
      return decided_in(played(rule, s, order));
    };
    const std::set<std::string> first = decided_in_order(0);
    CHECK(first.size() > 100);
    for (std::uint64_t order = 1; order < 5; ++order) REQUIRE(decided_in_order(order) == first);
  }
}

TEST_CASE("the values of copies depend on the seed, and a quarter of them is drawn again", "[selection]") {
  std::set<std::string> values;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    pbt rule{settings_of(4, seed)};
    values.insert(first_comparison(rule).front().copy->keys.at(0).value);
  }
  CHECK(values.contains("0.0008"));
  CHECK(values.contains("0.00125"));
  CHECK(values.size() > 5);
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
    CHECK(std::ranges::any_of(decided_in(all), [](const std::string& d) { return d.find(" of ") != d.npos; }));
    for (std::size_t kept = 0; kept <= all.size(); ++kept) {
      pbt resumed{s};
      replay(resumed, std::span{all}.first(kept));
      bool same = true;
      for (std::size_t i = kept; i < all.size(); ++i)
        same = same && decide(resumed, all[i].event).decisions == all[i].decisions;
      for (auto r = all.rbegin(); r != all.rend(); ++r) {
        const trial_decision own = r->decisions.front();
        const std::vector<trial_decision> again = resumed.result(std::get<trial_result>(r->event));
        same = same && (own.verdict == trial_verdict::wait || again == std::vector{own});
      }
      CHECK(same);
    }
  }
}

TEST_CASE("pbt describes itself", "[selection]") {
  const pbt rule{settings_of(4)};
  CHECK(rule.describe() == "pbt: 4 trials; every 10 of 100 steps the worst quarter begins again from the best");
  CHECK_THROWS_AS(pbt{search_settings{.kind = search_kind::pbt}}, fault_error);
}
