#pragma once
// Any policy, which stages as many units behind each other as the devices have slots for.

#include "actors/policy/policy.hpp"

#include <memory>
#include <utility>

namespace hydra::test {

class eager_policy final : public policy {
 public:
  explicit eager_policy(std::unique_ptr<policy> inner) : inner_(std::move(inner)) {}
  std::string name() const override { return inner_->name(); }
  std::uint32_t depth() const override { return most_staged; }
  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override {
    return inner_->choose(device, candidates, view);
  }
  bool pending() const override { return inner_->pending(); }
  void model_left(model_id model) override { inner_->model_left(model); }
  void unit_avoids(model_id model, device_id device) override { inner_->unit_avoids(model, device); }
  void device_left(device_id device) override { inner_->device_left(device); }

 private:
  std::unique_ptr<policy> inner_;
};

}  // namespace hydra::test
