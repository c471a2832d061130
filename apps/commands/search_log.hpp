#pragma once
// The decisions of a search, in the run folder.

#include "actors/run/search_setup.hpp"
#include "actors/session/session.hpp"
#include "apps/workload/workload.hpp"

namespace hydra::apps {

class trial_copies;

/// Its decisions are written to search.jsonl before they are carried out; a run that is resumed takes over those of
/// before. The copies of trials that it asks for go to `copies`, which outlives the session. Nothing without [search].
/// Throws fault_error: {bad_input} naming the line of a search that cannot be carried out, or the file if it is of
/// another search or damaged, {io}.
void add_search(session& into, const workload& w, bool resumes, trial_copies& copies);

/// The same for the coordinator of a cluster; without a rule nothing is decided.
search_setup search_on_nodes(const workload& w, bool resumes, trial_copies& copies);

}  // namespace hydra::apps
