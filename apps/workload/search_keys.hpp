#pragma once
// [search]: which of the models goes on.

#include "actors/plugin/known_plugins.hpp"
#include "actors/selection/search_settings.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/workload.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

table_rules search_rules();

/// The key of a checked [search] that says after how many steps its models must be evaluated; null: they need not be.
const value* evaluation_key(const value_table& search);

/// What a checked file searches, with its models as trials; nothing without [search]. A rule that is named by its
/// plug-in is loaded into `plugins`; without these it is only named. Throws fault_error{bad_input}: fewer than two
/// models, lengths that differ or are given in epochs, a rung without an evaluation, a search that decides nothing, a
/// key that pbt cannot change, a rule that there is not.
std::optional<search_settings> read_search(const value_table& root, const std::vector<model_entry>& models,
                                           plugin_set* plugins);

/// What is to be said beside predicted times: forecasts train all models to their end, which a search with a rule does
/// not.
std::optional<std::string> note_on_search(const workload& w);

}  // namespace hydra::apps
