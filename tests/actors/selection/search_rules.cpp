#include "actors/selection/search_rules.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <set>

using namespace hydra;

namespace search_rules_test {

search_settings settings_of(search_kind kind) {
  return {.kind = kind, .trials = {{"a"}, {"b"}}, .steps = 90, .first = 10, .factor = 3, .every = 20};
}

std::string name_of_rule(search_kind kind) {
  const std::string text = make_search_rule(settings_of(kind))->describe();
  return text.substr(0, text.find(':'));
}

TEST_CASE("each kind of search has its rule, grid and random have none", "[selection]") {
  for (const search_kind kind : {search_kind::halving, search_kind::hyperband, search_kind::asha, search_kind::pbt})
    CHECK(name_of_rule(kind).starts_with(to_string(kind)));
  CHECK_FALSE(make_search_rule(settings_of(search_kind::grid)));
  CHECK_FALSE(make_search_rule(settings_of(search_kind::random)));
}

TEST_CASE("a rule needs evaluations at a divisor of each of its rungs", "[selection]") {
  CHECK(evaluation_interval(settings_of(search_kind::halving)) == 10);
  CHECK(evaluation_interval(settings_of(search_kind::pbt)) == 20);
  CHECK(evaluation_interval(settings_of(search_kind::random)) == 0);
}

TEST_CASE("each rule says when a trial is compared next", "[selection]") {
  for (const search_kind kind : {search_kind::halving, search_kind::asha, search_kind::pbt}) {
    const auto rule = make_search_rule(settings_of(kind));
    const std::uint32_t first = kind == search_kind::pbt ? 20 : 10, second = kind == search_kind::pbt ? 40 : 30;
    CHECK(rule->compares_after("a", 0) == first);
    CHECK(rule->compares_after("a", first) == second);
    CHECK(rule->compares_after("a", 80) == 0);
  }
  const auto brackets = make_search_rule({.kind = search_kind::hyperband,
                                          .trials = {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"f"}, {"g"}},
                                          .steps = 90,
                                          .first = 10,
                                          .factor = 3});
  CHECK(brackets->compares_after("a", 0) == 10);
  std::set<std::uint32_t> of_all;
  for (const char* const trial : {"a", "b", "c", "d", "e", "f", "g"}) of_all.insert(brackets->compares_after(trial, 0));
  CHECK(of_all == std::set<std::uint32_t>{0, 10, 30});
}

TEST_CASE("the rules whose decisions depend on the order of results are known", "[selection]") {
  CHECK(decides_as_results_arrive(search_kind::asha));
  CHECK_FALSE(decides_as_results_arrive(search_kind::pbt));
  CHECK_FALSE(decides_as_results_arrive(search_kind::halving));
  CHECK_FALSE(decides_as_results_arrive(search_kind::hyperband));
}

TEST_CASE("settings without a rung are refused", "[selection]") {
  CHECK_THROWS_AS(make_search_rule({.kind = search_kind::asha, .trials = {{"a"}}, .steps = 90}), fault_error);
}

}  // namespace search_rules_test
