#pragma once
// actors/selection/ answers: which trial of a search goes on? Pure classes without CAF, Torch, clocks or files.
//
// Read in this order: search_rule (the interface), rungs (where trials are compared), halving, hyperband, asha, pbt,
// search_record (decisions that depend on the order of results, and their replay), search_ranking (who is best, and why
// the others have stopped), search_space (what is drawn).

namespace hydra {

class search_rule;
struct search_record;
struct search_settings;
struct searched_key;
struct trial_decision;
struct trial_result;

}  // namespace hydra
