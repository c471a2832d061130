#include "actors/run/search_setup.hpp"

#include "actors/selection/missing_results.hpp"
#include "actors/selection/search_rules.hpp"
#include "actors/selection/trial_score.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace hydra {

namespace {

/// What has been decided: trials that stop, and copies of others.
void take_over(search_setup& search, std::span<const search_record> decided) {
  for (const auto& r : decided) {
    for (const auto& d : r.decisions) {
      if (d.verdict == trial_verdict::stop) {
        search.stopped.emplace(d.trial, d.steps);
      }
      if (d.copy) {
        search.copies.push_back(*d.copy);
      }
    }
    if (const auto* end = std::get_if<trial_ended>(&r.event)) {
      search.trials.insert(end->trial);  // a copy that could not begin is not expected again
    }
  }
}

}  // namespace

search_setup make_search(const search_settings& settings, search_hooks hooks, std::span<const search_record> earlier) {
  search_setup search{.rule = make_search_rule(settings), .metric = settings.metric, .hooks = std::move(hooks)};
  if (!search.rule) {
    return {};
  }
  if (search.rule->copies() && !search.hooks.copy) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("{}: stopped trials are replaced by copies of others: give search_hooks::copy, which "
                                  "begins them",
                                  search.rule->describe()));
  }
  replay(*search.rule, earlier);
  take_over(search, earlier);
  for (const auto& t : settings.trials) {
    search.trials.insert(t.name);
  }
  return search;
}

void add_results(std::vector<trial_result>& all, const std::string& trial, const model_history& history,
                 search_metric metric) {
  for (const auto& e : history.evaluations) {
    all.push_back({trial, e.steps, score_of(metric, e.loss, e.accuracy)});
  }
}

std::vector<search_record> take_missing(search_setup& search, std::span<const search_record> earlier,
                                        std::vector<trial_result> results) {
  auto known = search.trials;
  std::ranges::transform(search.copies, std::inserter(known, known.end()), &trial_copy::trial);
  auto decided = decide_missing(*search.rule, earlier, std::move(results), std::move(known));
  take_over(search, decided);
  return decided;
}

}  // namespace hydra
