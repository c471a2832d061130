#pragma once
// Results that the checkpoints of a search's trials have and its records have not. Standard library only.

#include "actors/selection/search_record.hpp"

#include <set>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Tells the rule, which has replayed `earlier`, of those among `results` of which no record is: a trial that has gone
/// past one does not report it again, and others would wait for it for ever. Fewest steps first, then in the order
/// given. `trials`: names of those that the rule knows; results of other models are passed over, and of trials that
/// have ended by something else than the rule. Throws as search_rule::result().
std::vector<search_record> decide_missing(search_rule& rule, std::span<const search_record> earlier,
                                          std::vector<trial_result> results, std::set<std::string> trials);

}  // namespace hydra
