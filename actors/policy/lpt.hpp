#pragma once
// Longest unit first: a baseline. Standard library only.

#include "actors/policy/longest_first.hpp"

namespace hydra {

/// The candidate with the longest next unit. Of equals the device's own model, then the lower id.
class lpt final : public policy {
 public:
  std::string name() const override { return "lpt"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view&) override {
    return best_candidate(device, candidates, [](const candidate& a, const candidate& b) { return a.cost > b.cost; });
  }
};

}  // namespace hydra
