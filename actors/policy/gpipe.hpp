#pragma once
// GPipe (Huang et al. 2019). Standard library only.

#include "actors/policy/pipeline_policy.hpp"

#include <algorithm>

namespace hydra {

/// All forward visits of a step at a stage come before its first backward visit. Not at the last stage: the visit of
/// the last shard is forward and backward in one, so that it would stand idle in between; each wave turns round there.
class gpipe final : public pipeline_policy {
 public:
  gpipe() : pipeline_policy(dealing::groups, prefers::forward) {}
  std::string name() const override { return "gpipe"; }

 protected:
  bool lets_in(const visit& v) const override {
    if (v.next.way == direction::forward || v.stage + 1 == v.dealt.count()) {
      return true;
    }
    const auto end = v.dealt.first_shard(v.stage + 1);
    return std::ranges::all_of(v.waves, [&](const model_state& w) { return placed_in(v.next.step, w) >= end; });
  }
};

}  // namespace hydra
