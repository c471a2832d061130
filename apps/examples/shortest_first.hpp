#pragma once
// A scheduling policy written from actors/policy/policy.hpp. tests/apps/examples/conformance.cpp runs the conformance
// suite on it.

#include "actors/policy/policy.hpp"

#include <algorithm>

/// Shortest remaining time first: small models finish early, the longest one ends alone.
class shortest_first final : public hydra::policy {
 public:
  std::string name() const override { return "shortest-first"; }

  std::optional<std::size_t> choose(const hydra::device_state&, std::span<const hydra::candidate> candidates,
                                    const hydra::policy_view&) override {
    const auto shortest = std::ranges::min_element(candidates, {}, &hydra::candidate::remaining);
    return static_cast<std::size_t>(shortest - candidates.begin());  // equal ones: the lowest model id, every time
  }
};
