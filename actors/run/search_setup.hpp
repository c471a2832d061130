#pragma once
// A search as a run begins with it.

#include "actors/selection/search_hooks.hpp"
#include "actors/selection/search_record.hpp"
#include "actors/selection/search_rule.hpp"
#include "actors/selection/search_settings.hpp"
#include "partition/checkpoint/model_history.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace hydra {

struct search_setup {
  std::shared_ptr<search_rule> rule;  ///< null: no search
  search_metric metric = search_metric::validation;
  std::set<std::string> trials{};
  std::map<std::string, std::uint32_t> stopped{};  ///< trials that were decided to stop, and after how many steps
  std::vector<trial_copy> copies{};                ///< that it has decided to begin
  search_hooks hooks{};
};

/// `earlier`: what was recorded before. Throws fault_error: {damaged} if that is of another search, {bad_input} for one
/// that copies trials without a hook for that.
search_setup make_search(const search_settings& settings, search_hooks hooks, std::span<const search_record> earlier);

/// What a trial's checkpoint has.
void add_results(std::vector<trial_result>& all, const std::string& trial, const model_history& history,
                 search_metric metric);

/// Results of checkpoints that `earlier` lacks, because the file could not be written or has lost lines, are decided;
/// returned are their records.
std::vector<search_record> take_missing(search_setup& search, std::span<const search_record> earlier,
                                        std::vector<trial_result> results);

}  // namespace hydra
