#pragma once
// Sharded-LRTF, the paper's policy (section 2.4, Algorithm 2). Standard library only.

#include "actors/policy/longest_first.hpp"

namespace hydra {

/// The candidate with the longest remaining time. Of equals the model that the device computes, or computed last (its
/// boundary is there already), then the lower id.
class sharded_lrtf final : public policy {
 public:
  std::string name() const override { return "sharded-lrtf"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view&) override {
    return longest_first(device, candidates);
  }
};

}  // namespace hydra
