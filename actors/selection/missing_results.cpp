#include "actors/selection/missing_results.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hydra {

namespace {

using result_place = std::pair<std::string, std::uint32_t>;

struct recorded_events {
  std::set<result_place> results;
  std::set<std::string> ended;
};

recorded_events recorded_in(std::span<const search_record> records) {
  recorded_events all;
  for (const search_record& r : records)
    if (const auto* result = std::get_if<trial_result>(&r.event))
      all.results.emplace(result->trial, result->steps);
    else if (const auto* end = std::get_if<trial_ended>(&r.event))
      all.ended.insert(end->trial);
  return all;
}

}  // namespace

std::vector<search_record> decide_missing(search_rule& rule, std::span<const search_record> earlier,
                                          std::vector<trial_result> results, std::set<std::string> trials) {
  const auto [recorded, ended] = recorded_in(earlier);
  std::ranges::stable_sort(results, {}, &trial_result::steps);
  std::vector<search_record> made;
  for (const trial_result& r : results) {
    if (!trials.contains(r.trial) || ended.contains(r.trial) || recorded.contains({r.trial, r.steps})) continue;
    made.push_back(decide(rule, r));
    for (const trial_decision& d : made.back().decisions)
      if (d.copy) trials.insert(d.copy->trial);
  }
  return made;
}

}  // namespace hydra
