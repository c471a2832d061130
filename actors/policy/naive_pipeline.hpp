#pragma once
// Naive model parallelism: a baseline. Standard library only.

#include "actors/policy/pipeline_policy.hpp"

namespace hydra {

/// Each shard keeps to its device, nothing else: with one wave one device of a model computes at a time.
class naive_pipeline final : public pipeline_policy {
 public:
  naive_pipeline() : pipeline_policy(dealing::groups, prefers::neither) {}
  std::string name() const override { return "naive-pipeline"; }
};

}  // namespace hydra
