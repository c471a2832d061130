#include "runtime/base/block_id.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <vector>

using namespace hydra;

namespace {

block_id block(block_kind kind) {
  block_id id;
  id.model = model_id{3};
  id.step = step_index{7};
  id.kind = kind;
  id.shard = shard_index{1};
  return id;
}

/// All blocks of a small workload, in the order in which a cache sees them.
std::vector<block_id> neighbours() {
  std::vector<block_id> all;
  for (std::uint32_t n = 0; n < 4 * 4 * 4 * 4 * 8; ++n) {
    block_id id;
    id.model = model_id{n % 4};
    id.step = step_index{n / 4 % 4};
    id.shard = shard_index{n / 16 % 4};
    id.micro_batch = micro_batch_index{n / 64 % 4};
    id.kind = static_cast<block_kind>(n / 256 % 8);
    all.push_back(id);
  }
  return all;
}

}  // namespace

TEST_CASE("a block is printed by kind, model, shard, step and micro-batch") {
  REQUIRE(to_string(block(block_kind::activation)) == "activation of model 3 shard 1 step 7 micro-batch 0");
}

TEST_CASE("parameters and optimizer state are printed with their version") {
  REQUIRE(to_string(block(block_kind::parameters)) == "parameters of model 3 shard 1 version 7");
  REQUIRE(to_string(block(block_kind::state)) == "state of model 3 shard 1 version 7");
  REQUIRE(to_string(block(block_kind::gradients)) == "gradients of model 3 shard 1 step 7");
}

TEST_CASE("the replica and the evaluation pass are printed unless they have their default") {
  auto id = block(block_kind::upstream);
  id.replica = replica_id{2};
  id.pass = pass_kind::evaluation;
  REQUIRE(to_string(id) == "upstream of model 3 replica 2 shard 1 step 7 micro-batch 0 (evaluation)");
}

TEST_CASE("activations of training and of evaluation are different blocks") {
  auto evaluation = block(block_kind::activation);
  evaluation.pass = pass_kind::evaluation;
  REQUIRE(evaluation != block(block_kind::activation));
  REQUIRE(std::hash<block_id>{}(evaluation) != std::hash<block_id>{}(block(block_kind::activation)));
}

TEST_CASE("the blocks of a workload have different hashes, also in their low bits") {
  std::set<std::size_t> hashes;
  std::set<std::size_t> buckets;
  for (const auto& id : neighbours()) {
    hashes.insert(std::hash<block_id>{}(id));
    buckets.insert(std::hash<block_id>{}(id) % 4096);
  }
  REQUIRE(hashes.size() == neighbours().size());
  REQUIRE(buckets.size() > 1400);  // 2048 balls in 4096 buckets fill 1612 on average
}
