#pragma once
// Interleaved 1F1B (Megatron-LM, Narayanan et al. 2021). Standard library only.

#include "actors/policy/interleaved_order.hpp"
#include "actors/policy/pipeline_policy.hpp"

namespace hydra {

/// Shards are dealt to stages in turn, and a device visits the units of a step in Megatron's order, with groups of as
/// many waves as stages; a unit waits for those before it.
class interleaved final : public pipeline_policy {
 public:
  interleaved() : pipeline_policy(dealing::round_robin, prefers::backward) {}
  std::string name() const override { return "interleaved"; }

 protected:
  bool lets_in(const visit& v) const override {
    const auto stages = v.dealt.count();
    return interleaved_order(v.waves.front().shape, stages, v.stage, stages).in_turn(v.next, v.waves);
  }
};

}  // namespace hydra
