#pragma once
// partition/ answers: how is a chain cut, and what does a piece cost? Profile, cut, plan, shard (forward, backward),
// cursor. It sees of models/ the layer, the chain and the loss, of runtime/ bytes and blocks. It must not know actors.
//
// Read in this order: profile (what a layer costs) and pilot (on which devices), footprint (what a visit needs), cut,
// staging_search, plan, plan_file, shard, dataflow, cursor.

namespace hydra {

class shard;
class cursor;
struct chain_profile;
struct model_plan;
struct shard_plan;
struct workload_plan;

}  // namespace hydra
