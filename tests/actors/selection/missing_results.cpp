#include "actors/selection/missing_results.hpp"

#include "actors/selection/halving.hpp"
#include "actors/selection/pbt.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;

namespace {

const std::vector<std::string> four{"a", "b", "c", "d"};

/// After 4 steps c and a are better, after 8 a.
std::vector<trial_result> known_results() {
  return {{"a", 4, 2}, {"a", 8, 1}, {"b", 4, 4}, {"c", 4, 1}, {"c", 8, 2}, {"d", 4, 3}, {"joined", 4, 0}};
}

halving four_trials() { return {four, {4, 8, 16}, 2}; }

std::vector<search_record> told_in_order(search_rule& rule, std::vector<trial_result> results) {
  std::erase_if(results, [](const trial_result& r) { return r.trial == "joined"; });
  std::ranges::stable_sort(results, {}, &trial_result::steps);
  std::vector<search_record> all;
  for (const trial_result& r : results) all.push_back(decide(rule, r));
  return all;
}

bool are_equal(const std::vector<search_record>& a, const std::vector<search_record>& b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.event == y.event && x.decisions == y.decisions; });
}

}  // namespace

TEST_CASE("whatever records are missing behind some, the results of the trials give the same decisions",
          "[selection]") {
  halving undisturbed = four_trials();
  const auto all = told_in_order(undisturbed, known_results());
  for (std::size_t kept = 0; kept <= all.size(); ++kept) {
    const std::vector<search_record> earlier(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept));
    halving resumed = four_trials();
    replay(resumed, earlier);
    auto records = earlier;
    for (const auto& r : decide_missing(resumed, earlier, known_results(), {four.begin(), four.end()}))
      records.push_back(r);
    CHECK(are_equal(records, all));
  }
}

TEST_CASE("no result is missing of a trial that a callback has stopped there", "[selection]") {
  halving rule = four_trials();
  const std::vector<search_record> earlier{decide(rule, trial_ended{"b"})};
  const auto made = decide_missing(rule, earlier, {{"b", 4, 4}, {"a", 4, 2}}, {four.begin(), four.end()});
  REQUIRE(made.size() == 1);
  CHECK(made[0].event == search_event{trial_result{"a", 4, 2}});
}

TEST_CASE("results of a copy are missing behind the decision that has begun it", "[selection]") {
  search_settings settings{.kind = search_kind::pbt, .steps = 12, .every = 4};
  for (const std::string& name : four) settings.trials.push_back({name});
  pbt rule{settings};
  const auto made = decide_missing(rule, {}, {{"b.pbt2", 8, 5}, {"a", 4, 2}, {"b", 4, 4}, {"c", 4, 1}, {"d", 4, 3}},
                                   {four.begin(), four.end()});
  REQUIRE(made.size() == 5);
  CHECK(made[3].decisions.size() == 4);
  CHECK(made[4].event == search_event{trial_result{"b.pbt2", 8, 5}});
}
