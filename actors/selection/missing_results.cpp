#include "actors/selection/missing_results.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hydra {

namespace {

using result_place = std::pair<std::string, std::uint32_t>;

std::set<result_place> recorded_in(std::span<const search_record> records) {
  std::set<result_place> all;
  for (const search_record& r : records)
    if (const auto* result = std::get_if<trial_result>(&r.event)) all.emplace(result->trial, result->steps);
  return all;
}

}  // namespace

std::vector<search_record> decide_missing(search_rule& rule, std::span<const search_record> earlier,
                                          std::vector<trial_result> results, std::set<std::string> trials) {
  const std::set<result_place> recorded = recorded_in(earlier);
  std::ranges::stable_sort(results, {}, &trial_result::steps);
  std::vector<search_record> made;
  for (const trial_result& r : results) {
    if (!trials.contains(r.trial) || recorded.contains({r.trial, r.steps})) continue;
    made.push_back(decide(rule, r));
    for (const trial_decision& d : made.back().decisions)
      if (d.copy) trials.insert(d.copy->trial);
  }
  return made;
}

}  // namespace hydra
