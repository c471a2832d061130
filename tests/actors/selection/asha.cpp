#include "actors/selection/asha.hpp"

#include "tests/actors/selection/portfolio.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

using namespace hydra;

namespace asha_test {

std::string told(const std::vector<trial_decision>& decisions) {
  std::string text;
  for (const trial_decision& d : decisions)
    text += (text.empty() ? "" : ", ") + d.trial +
            (d.verdict == trial_verdict::wait   ? " wait"
             : d.verdict == trial_verdict::stop ? " stop"
                                                : " go on");
  return text;
}

asha rule_for(const portfolio& p) { return {p.names(), p.rungs, p.factor}; }

TEST_CASE("a trial goes on as soon as it is among the best third of those that have arrived", "[selection]") {
  asha rule{{"a", "b", "c", "d", "e", "f"}, {10, 30}, 3};
  CHECK(told(rule.result({"a", 10, 5})) == "a wait");
  CHECK(told(rule.result({"b", 10, 4})) == "b wait");
  CHECK(told(rule.result({"c", 10, 6})) == "c stop, b go on");  // at most 2 of 6 go on, and c is the third now
  CHECK(told(rule.result({"d", 10, 3})) == "d go on, a stop");
  CHECK(told(rule.result({"e", 10, 7})) == "e stop");
  CHECK(told(rule.result({"f", 10, 3.5})) == "f go on");
}

TEST_CASE("of a rung where no more can arrive at least one goes on", "[selection]") {
  asha rule{{"a", "b", "c"}, {10, 30}, 4};
  rule.result({"b", 10, 1});
  rule.result({"a", 10, 2});
  CHECK(told(rule.ended("c")) == "b go on");
  CHECK(told(rule.result({"a", 10, 2})) == "a stop");
}

TEST_CASE("a trial whose score is not finite does not go on while others may still arrive", "[selection]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  asha rule{{"a", "b", "c", "d"}, {10, 30}, 2};
  CHECK(told(rule.result({"a", 10, nan})) == "a wait");
  CHECK(told(rule.result({"b", 10, nan})) == "b wait");
  CHECK(told(rule.result({"c", 10, 2})) == "c go on, b stop");
  CHECK(told(rule.result({"d", 10, 3})) == "d go on, a stop");
  asha hopeless{{"a", "b"}, {10, 30}, 2};
  hopeless.result({"a", 10, nan});
  CHECK(told(hopeless.result({"b", 10, nan})) == "b stop, a go on");
}

TEST_CASE("a trial that ends while it waits leaves its rung", "[selection]") {
  asha rule{{"a", "b", "c"}, {10, 30}, 3};
  rule.result({"a", 10, 1});
  CHECK(rule.ended("a").empty());
  rule.result({"b", 10, 2});
  CHECK(told(rule.result({"c", 10, 3})) == "c stop, b go on");
}

TEST_CASE("in every order each trial of asha is decided, and one trains to its end if any can", "[selection]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const portfolio p = random_portfolio(seed);
    const bool all_fail = std::ranges::all_of(p.trials, [&](const auto& t) { return t.fails_at < p.rungs.size(); });
    const bool none_fail = std::ranges::all_of(p.trials, [&](const auto& t) { return t.fails_at == p.rungs.size(); });
    for (std::uint64_t order = 0; order < 20; ++order) {
      CAPTURE(seed, order);
      asha rule = rule_for(p);
      const played_search s = play(rule, p, order);
      CHECK_FALSE(s.stuck);
      if (all_fail) CHECK(s.finished.empty());
      if (none_fail) CHECK_FALSE(s.finished.empty());
    }
  }
}

TEST_CASE("a search by asha that is replayed from any of its decisions on answers as before and carries on",
          "[selection]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const portfolio p = random_portfolio(seed);
    asha rule = rule_for(p);
    const std::vector<search_record> all = play(rule, p, seed).records;
    for (std::size_t kept = 0; kept <= all.size(); ++kept) {
      asha resumed = rule_for(p);
      replay(resumed, std::span{all}.first(kept));
      bool same = true;
      for (std::size_t i = kept; i < all.size(); ++i)
        same = same && decide(resumed, all[i].event).decisions == all[i].decisions;
      // Whatever is reported again, in whatever order, has been decided.
      for (auto r = all.rbegin(); r != all.rend(); ++r) {
        const auto* result = std::get_if<trial_result>(&r->event);
        same = same && (!result || resumed.result(*result) == rule.result(*result));
      }
      CHECK(same);
    }
  }
}

TEST_CASE("the order of results decides what asha does", "[selection]") {
  const portfolio p = random_portfolio(3);
  std::set<decided> different;
  for (std::uint64_t order = 0; order < 20; ++order) {
    asha rule = rule_for(p);
    different.insert(play(rule, p, order).decisions);
  }
  CHECK(different.size() > 1);
}

}  // namespace asha_test
