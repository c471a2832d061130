#pragma once
// partition/ answers: how is a chain cut into shards, what does a shard cost, and how is it executed? It uses layers,
// chains and losses of models/, bytes and blocks of runtime/. It must not know about actors.
//
// Read in this order: profile (the cost of a layer), pilot (measures it on the devices), footprint (memory of a visit),
// cut, staging_search, plan, plan_file, shard, dataflow, cursor.

namespace hydra {

class shard;
class cursor;
struct chain_profile;
struct model_plan;
struct shard_plan;
struct workload_plan;

}  // namespace hydra
