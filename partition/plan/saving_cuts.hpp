#pragma once
// Cuts that leave memory to what forward visits save: shorter shards stage and compute in less.

#include "partition/plan/staging_search.hpp"

#include <span>

namespace hydra {

/// Part of the recomputation of one step that a device with `room` bytes for saved tensors can do without, if the model
/// is alone there: the last shards first, whose tensors are saved for the shortest time.
duration saved_time(const plan_request& m, const cut_points& cuts, byte_count room);

/// Of the best cuts for `usable` bytes and for less, those with which one step of each model takes the least time where
/// the rest of `usable` is for saved tensors: computing, and between steps what no other model fills. Longer shards
/// unless shorter ones gain 1 %. `best`: those for `usable`.
cut_set saving_cuts(std::span<const plan_request> models, byte_count usable, cut_set best);

}  // namespace hydra
