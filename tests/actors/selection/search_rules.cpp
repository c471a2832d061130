#include "actors/selection/search_rules.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

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
