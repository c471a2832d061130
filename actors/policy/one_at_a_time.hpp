#pragma once
// Any policy without SHARP: models are trained one after the other. Standard library only.

#include "actors/policy/policy.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace hydra {

/// Shows the policy inside only units of the unfinished model with the lowest id (ablation `sharp = false`).
class one_at_a_time final : public policy {
 public:
  explicit one_at_a_time(std::unique_ptr<policy> inside) : inside_(std::move(inside)) {}

  std::string name() const override { return inside_->name() + ", one model at a time"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override {
    const auto lowest = view.models.front().model;  // candidates are in the order of ids, too
    const auto end = std::ranges::find_if(candidates, [=](const candidate& c) { return c.next.model != lowest; });
    const auto shown = candidates.first(static_cast<std::size_t>(end - candidates.begin()));
    return shown.empty() ? std::nullopt : inside_->choose(device, shown, view);
  }

  std::uint32_t depth() const override { return inside_->depth(); }
  bool pending() const override { return inside_->pending(); }
  void model_left(model_id model) override { inside_->model_left(model); }
  void unit_avoids(model_id model, device_id device) override { inside_->unit_avoids(model, device); }
  void device_left(device_id device) override { inside_->device_left(device); }

 private:
  std::unique_ptr<policy> inside_;
};

}  // namespace hydra
