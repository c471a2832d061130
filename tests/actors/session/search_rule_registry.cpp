#include "actors/session/search_rule_registry.hpp"

#include "actors/selection/search_rules.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using Catch::Contains;
using hydra::test::test_plugin;

namespace {

std::shared_ptr<search_rule> median_of_four(plugin_set& plugins) {
  search_settings s{.kind = search_kind::own, .trials = {{"a"}, {"b"}, {"c"}, {"d"}}, .steps = 9};
  const auto known = find_search_rule(plugins, test_plugin("median").string());
  s.make = known.make;
  s.options = complete_numbers("median", {{"others", 2}}, known.options);
  return make_search_rule(s);
}

}  // namespace

TEST_CASE("the rule of a search is found in a plug-in, by its path and then by its name", "[plugin]") {
  const auto plugins = make_plugin_set();
  CHECK_THROWS_WITH(find_search_rule(*plugins, "median"), Contains("no plug-in that offers one is loaded"));
  CHECK(find_search_rule(*plugins, test_plugin("median").string()).name == "median");
  CHECK(find_search_rule(*plugins, "median").options.size() == 1);
  CHECK_THROWS_WITH(find_search_rule(*plugins, "medium"), Contains("did you mean \"median\"?"));
  CHECK_THROWS_WITH(find_search_rule(*plugins, test_plugin("shortest_first").string()),
                    Contains("it offers no rule of a search, but policy \"shortest-first\""));
}

TEST_CASE("a rule of a plug-in decides, and answers again as before", "[plugin]") {
  const auto plugins = make_plugin_set();
  const auto rule = median_of_four(*plugins);
  const auto verdict = [&](const char* trial, double score) { return rule->result({trial, 3, score}).front().verdict; };
  CHECK(rule->describe() == "median: 4 trials");
  CHECK(verdict("a", 9) == trial_verdict::go_on);  // there are not two others yet
  CHECK(verdict("b", 1) == trial_verdict::go_on);
  CHECK(verdict("c", 10) == trial_verdict::stop);
  CHECK(verdict("d", 8) == trial_verdict::go_on);
  CHECK(verdict("a", 9) == trial_verdict::go_on);
  CHECK(verdict("c", 10) == trial_verdict::stop);
  CHECK(rule->result({"d", 6, std::nan("")}).front().verdict == trial_verdict::go_on);
  rule->result({"a", 6, 1});
  rule->result({"b", 6, 2});
  CHECK(rule->result({"c", 6, std::nan("")}).front().verdict == trial_verdict::stop);
}

TEST_CASE("a rule of one's own that cannot be made is refused", "[plugin]") {
  CHECK_THROWS_WITH(make_search_rule({.kind = search_kind::own}), Contains("search_settings::make"));
}
