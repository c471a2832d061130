#pragma once
// Small real models, cut into shards, with host buffers: for tests of partition/ and of the block store.

#include "models/chain.hpp"
#include "models/data_source.hpp"
#include "models/families/cnn/cnn.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/optimizer/update_rule.hpp"
#include "partition/execute/model_update.hpp"
#include "partition/execute/sharded_model.hpp"
#include "partition/plan/plan.hpp"
#include "partition/profile/profile.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace hydra::test {

struct small_model {
  std::shared_ptr<const data_source> data;
  std::shared_ptr<const chain> body;
};

/// Over a synthetic language of 11 symbols.
small_model small_gpt(const gpt2_options& options);
/// Over 8 features and 3 classes.
small_model small_mlp(const mlp_options& options);
/// Over images [2, 8, 8] and 3 classes.
small_model small_cnn(const cnn_options& options);

/// The same in bf16, with gradients that are demoted in fp32 or bf16.
small_model rounded(const small_model& m, precision gradients = precision::fp32);

/// On the calling thread, one micro-batch a step.
chain_profile profile_of(const chain& model, const tensor_spec& sample_target, std::int64_t samples);
chain_profile profile_of(const small_model& m, std::int64_t samples);

struct shard_options {
  cut_points cuts{0};
  std::uint32_t micro_batches = 1;
  std::int64_t samples = 2;   ///< per micro-batch
  update_options update{};
};

/// With the given cuts, on a device without a memory limit. Three steps, seed 1.
std::shared_ptr<sharded_model> cut_model(const small_model& m, const shard_options& options);

/// Host buffers as a session makes them: initial values, no gradients, zero moments.
std::vector<shard_home> make_homes(const sharded_model& m, host_arena& arena);

/// The visit of a shard in step 0, all micro-batches.
unit visit_of(const sharded_model& m, direction way, std::uint32_t shard);

}  // namespace hydra::test
