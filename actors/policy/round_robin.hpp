#pragma once
// Round robin over the models: a baseline. Standard library only.

#include "actors/policy/policy.hpp"

#include <algorithm>

namespace hydra {

/// The first candidate in cyclic order of ids after the model chosen last, by whichever device.
class round_robin final : public policy {
 public:
  std::string name() const override { return "round-robin"; }

  std::optional<std::size_t> choose(const device_state&, std::span<const candidate> candidates,
                                    const policy_view&) override {
    const auto is_next = [this](const candidate& c) { return !last_ || c.next.model > *last_; };
    const auto found = std::ranges::find_if(candidates, is_next);
    const auto index = found == candidates.end() ? 0 : found - candidates.begin();
    last_ = candidates[static_cast<std::size_t>(index)].next.model;
    return static_cast<std::size_t>(index);
  }

 private:
  std::optional<model_id> last_;
};

}  // namespace hydra
