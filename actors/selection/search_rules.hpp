#pragma once
// The table of rules. To add one: write a search_rule, add a kind and one row.

#include "actors/selection/search_rule.hpp"
#include "actors/selection/search_settings.hpp"

#include <memory>

namespace hydra {

/// False for grid and random: all trials run to their end.
bool has_rule(search_kind kind);

/// Null without one. Throws fault_error{bad_input} for impossible settings.
std::unique_ptr<search_rule> make_search_rule(const search_settings& settings);

/// Steps after which a trial must be evaluated, for the rule to decide: a divisor of each of its rungs. 0: there is no
/// rule, or one's own, which decides whenever a trial is evaluated.
std::uint32_t evaluation_interval(const search_settings& settings);

/// Whether decisions depend on the order of results, so that they have to be recorded and replayed (search_record).
bool decides_as_results_arrive(search_kind kind);

}  // namespace hydra
