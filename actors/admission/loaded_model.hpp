#pragma once
// From a planned model to one that can be trained: shards, and memory filled with initial values or from a checkpoint.

#include "actors/admission/prepared_model.hpp"
#include "actors/protocol/model_entry.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/log.hpp"

#include <cstdint>
#include <map>
#include <memory>

namespace hydra {

/// `seed`: of the session.
sharded_model_ptr cut_model(const model_description& d, const prepared_model& p, const model_plan& plan,
                            std::uint64_t seed);

/// What is known of a model without its data.
model_facts planned_facts(const chain& model);

/// `saved`: the checkpoint to resume from; null: start from the beginning. `bases`: of models that are loaded. Throws
/// fault_error{out_of_memory}, {io}.
model_entry load_model(const sharded_model_ptr& m, const model_data& data, const saved_model* saved, model_id id,
                       host_arena& arena, const base_lookup& bases);

using bases_in_memory = std::map<base_place, std::weak_ptr<host_block>>;

/// Adds the bases that the model may share, while it has its memory.
void add_bases(bases_in_memory& all, const model_entry& m);

}  // namespace hydra
