#pragma once
// Trials of a search that are the same model.

#include "apps/workload/workload.hpp"

#include <optional>
#include <string>

namespace hydra::apps {

/// Names models of a search with all keys of an earlier one but the name, whose results they only repeat: a choice
/// among few values draws such. Nothing if all differ, or without a search.
std::optional<std::string> note_on_equal_trials(const workload& w);

}  // namespace hydra::apps
