#pragma once
// First in, first out: a baseline. Standard library only.

#include "actors/policy/policy.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

/// The candidate that has been available to all devices for longest; one that only the asked device may stage comes
/// last: it is not available to all yet. Ties: lower model id.
class fifo final : public policy {
 public:
  std::string name() const override { return "fifo"; }

  std::optional<std::size_t> choose(const device_state&, std::span<const candidate> candidates,
                                    const policy_view&) override {
    const auto since = [](const candidate& c) { return std::pair{c.chained, c.announced}; };
    return static_cast<std::size_t>(std::ranges::min_element(candidates, {}, since) - candidates.begin());
  }
};

}  // namespace hydra
