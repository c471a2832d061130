// Successive halving and hyperband: pure functions of histories.

#include "actors/selection/halving.hpp"

#include "actors/selection/hyperband.hpp"
#include "actors/selection/rungs.hpp"
#include "runtime/base/fault.hpp"
#include "tests/actors/selection/portfolio.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

using namespace hydra;

namespace {

using make_rule = std::function<std::unique_ptr<search_rule>(const portfolio&)>;

const make_rule make_halving = [](const portfolio& p) {
  return std::make_unique<halving>(p.names(), p.rungs, p.factor);
};
const make_rule make_hyperband = [](const portfolio& p) {
  return std::make_unique<hyperband>(p.names(), p.rungs, p.factor);
};

/// "a go on, b stop": decisions in their order.
std::string told(const std::vector<trial_decision>& decisions) {
  std::string text;
  for (const trial_decision& d : decisions)
    text += (text.empty() ? "" : ", ") + d.trial +
            (d.verdict == trial_verdict::wait   ? " wait"
             : d.verdict == trial_verdict::stop ? " stop"
                                                : " go on");
  return text;
}

/// Of `entrants`, who trains to the end if the rungs from `first` on decide. Written as the paper has it.
std::set<std::string> survivors(const portfolio& p, std::vector<std::size_t> entrants, std::size_t first) {
  const auto worse = [&](std::size_t a, std::size_t b, std::size_t rung) {
    const double x = p.trials[a].scores[rung], y = p.trials[b].scores[rung];
    if (std::isfinite(x) != std::isfinite(y)) return std::isfinite(y);
    return std::isfinite(x) && x != y ? x > y : a > b;
  };
  for (std::size_t rung = first; rung < p.rungs.size(); ++rung) {
    std::erase_if(entrants, [&](std::size_t i) { return p.trials[i].fails_at <= rung; });
    if (rung + 1 == p.rungs.size()) break;
    const auto is_promoted = [&](std::size_t i) {
      const auto better = std::ranges::count_if(entrants, [&](std::size_t other) { return worse(i, other, rung); });
      return static_cast<double>(better) < std::ceil(static_cast<double>(entrants.size()) / p.factor);
    };
    std::vector<std::size_t> promoted;
    std::ranges::copy_if(entrants, std::back_inserter(promoted), is_promoted);
    entrants = promoted;
  }
  std::set<std::string> names;
  for (const std::size_t i : entrants) names.insert(std::to_string(i));
  return names;
}

std::set<std::string> survivors_of_brackets(const portfolio& p) {
  const std::vector<std::size_t> brackets = deal_to_brackets(p.trials.size(), p.rungs.size(), p.factor);
  std::set<std::string> all;
  for (std::size_t b = 0; b < p.rungs.size(); ++b) {
    std::vector<std::size_t> entrants;
    for (std::size_t i = 0; i < brackets.size(); ++i)
      if (brackets[i] == b) entrants.push_back(i);
    // Failures before the first rung of the bracket count, too.
    std::erase_if(entrants, [&](std::size_t i) { return p.trials[i].fails_at <= b; });
    all.merge(survivors(p, entrants, b));
  }
  return all;
}

std::vector<std::size_t> everyone(const portfolio& p) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < p.trials.size(); ++i) all.push_back(i);
  return all;
}

/// The events of a search, each trial's in their order, mixed anew: as a resumed run might report them.
decided decisions_of_histories(const make_rule& make, const portfolio& p, const std::vector<search_record>& records,
                               portable_random& random) {
  std::map<std::string, std::vector<search_event>> histories;
  for (const search_record& r : records) {
    const auto* end = std::get_if<trial_ended>(&r.event);
    histories[end ? end->trial : std::get<trial_result>(r.event).trial].push_back(r.event);
  }
  const auto rule = make(p);
  std::vector<search_record> again;
  while (!histories.empty()) {
    const auto of = std::next(histories.begin(), random.whole(0, static_cast<std::uint32_t>(histories.size() - 1)));
    again.push_back(decide(*rule, of->second.front()));
    of->second.erase(of->second.begin());
    if (of->second.empty()) histories.erase(of);
  }
  return decisions_in(again);
}

}  // namespace

TEST_CASE("decisions of halving and hyperband do not depend on the order of events or on repeated results",
          "[selection]") {
  for (const make_rule& make : {make_halving, make_hyperband}) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      CAPTURE(seed);
      const portfolio p = random_portfolio(seed);
      portable_random random{seed};
      const played_search once = play(*make(p), p, 0);
      bool equal = !once.stuck, of_histories = true;
      for (std::uint64_t order = 1; order < 50; ++order) {
        const played_search again = play(*make(p), p, order);
        equal = equal && again.decisions == once.decisions && again.finished == once.finished && !again.stuck;
        of_histories = of_histories && decisions_of_histories(make, p, again.records, random) == once.decisions;
      }
      CHECK(equal);
      CHECK(of_histories);
    }
  }
}

TEST_CASE("those who survive halving and hyperband are those of the definition", "[selection]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const portfolio p = random_portfolio(seed);
    CHECK(play(*make_halving(p), p, seed).finished == survivors(p, everyone(p), 0));
    CHECK(play(*make_hyperband(p), p, seed).finished == survivors_of_brackets(p));
  }
}

TEST_CASE("a rung decides when the last trial has arrived; a third, rounded up, goes on", "[selection]") {
  halving rule{{"a", "b", "c", "d"}, {10, 30, 90}, 3};
  CHECK(told(rule.result({"c", 10, 4})) == "c wait");
  CHECK(told(rule.result({"a", 10, 3})) == "a wait");
  CHECK(told(rule.result({"d", 10, 1})) == "d wait");
  CHECK(told(rule.result({"b", 10, 2})) == "b go on, d go on, a stop, c stop");
  CHECK(told(rule.result({"b", 20, 9})) == "b go on");
  CHECK(told(rule.result({"b", 30, 9})) == "b wait");
  CHECK(told(rule.result({"d", 30, 8})) == "d go on, b stop");
  CHECK(told(rule.result({"d", 90, 8})) == "d go on");
}

TEST_CASE("a decision tells the rank", "[selection]") {
  halving rule{{"a", "b"}, {10, 30}, 2};
  rule.result({"b", 10, 1});
  CHECK(rule.result({"a", 10, 2}) ==
        std::vector<trial_decision>{{"a", 10, trial_verdict::stop, 2, 2}, {"b", 10, trial_verdict::go_on, 1, 2}});
}

TEST_CASE("a repeated result is answered as before, whatever its score", "[selection]") {
  halving rule{{"a", "b"}, {10, 30}, 2};
  rule.result({"a", 10, 1});
  CHECK(told(rule.result({"a", 10, 9})) == "a wait");
  rule.result({"b", 10, 2});
  CHECK(told(rule.result({"a", 10, 9})) == "a go on");
  CHECK(told(rule.result({"b", 10, 0})) == "b stop");
}

TEST_CASE("others do not wait for a trial that has ended, and its place on the rung is theirs", "[selection]") {
  halving rule{{"a", "b", "c"}, {10, 30}, 2};
  rule.result({"a", 10, 1});
  CHECK(told(rule.result({"b", 10, 2})) == "b wait");
  CHECK(told(rule.ended("c")) == "a go on, b stop");
  CHECK(told(rule.result({"c", 10, 0})) == "c stop");
}

TEST_CASE("a trial that stopped at a rung stops at later ones, too", "[selection]") {
  halving rule{{"a", "b"}, {10, 30, 90}, 2};
  rule.result({"a", 10, 1});
  rule.result({"b", 10, 2});
  CHECK(told(rule.result({"b", 30, 0})) == "b stop");
}

TEST_CASE("one trial goes on, and so does one of fewer than the factor", "[selection]") {
  halving one{{"a"}, {10, 30}, 3};
  CHECK(told(one.result({"a", 10, std::numeric_limits<double>::quiet_NaN()})) == "a go on");
  halving two{{"a", "b"}, {10, 30}, 9};
  two.result({"a", 10, 2});
  CHECK(told(two.result({"b", 10, 1})) == "b go on, a stop");
}

TEST_CASE("a trial that the search does not have is refused", "[selection]") {
  halving rule{{"a"}, {10, 30}, 3};
  CHECK_THROWS_WITH(rule.result({"b", 10, 1}), Catch::Contains("no trial \"b\""));
  CHECK_THROWS_AS(rule.ended("b"), fault_error);
}

TEST_CASE("the first rung of a trial is that of its bracket", "[selection]") {
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
  hyperband rule{names, {10, 30, 90}, 3};
  const auto brackets = deal_to_brackets(names.size(), 3, 3);
  for (std::size_t i = 0; i < names.size(); ++i)
    CHECK((rule.result({names[i], 10, 1}).front().verdict == trial_verdict::go_on) == (brackets[i] > 0));
}

TEST_CASE("hyperband deals trials to brackets as the paper sizes them", "[selection]") {
  // Li et al. 2018, table 1: R = 81, factor 3 gives 81, 34, 15, 8 and 5 trials to the brackets.
  const auto brackets = deal_to_brackets(81 + 34 + 15 + 8 + 5, 5, 3);
  std::vector<std::ptrdiff_t> sizes;
  for (std::size_t b = 0; b < 5; ++b) sizes.push_back(std::ranges::count(brackets, b));
  CHECK(sizes == std::vector<std::ptrdiff_t>{81, 34, 15, 8, 5});
  CHECK(deal_to_brackets(1, 5, 3) == std::vector<std::size_t>{0});
}

TEST_CASE("halving and hyperband describe themselves", "[selection]") {
  CHECK(halving{{"a", "b"}, {10, 30}, 3}.describe() == "halving: 2 trials; 1 of 3 goes on after 10 of 30 steps");
  CHECK(hyperband{{"a", "b", "c", "d"}, {10, 20}, 2}.describe() ==
        "hyperband: 4 trials in 2 brackets; 2: 1 of 2 goes on after 10 of 20 steps; 2: all train their 20 steps");
}
