#pragma once
// Band policies: laxity on devices of one speed, level scheduling with affinity on devices of several speeds, and
// waiting at the step boundary of a critical model (scheduling page, section 2). Standard library only.

#include "actors/policy/level.hpp"
#include "actors/policy/lla.hpp"
#include "actors/policy/step_boundary.hpp"

namespace hydra {

struct band_options {
  critical_margin margin{};
  bool hold = true;           ///< keep the slot while the device's critical model is at a step boundary
  bool stay = false;          ///< on equal speeds: own model first, then least avoidable transfer
};

/// Equal speeds: lla. Otherwise level's answer p, unless the device's own model belongs to its band of speeds and is
/// not shorter than p by 4 of its units and the transfers it saves.
///
/// Hold: the next unit is chosen one unit ahead, but a step's first unit cannot be announced before its version exists.
/// So at each step boundary (gradient, update and load of shard 0) another model would get the slot, and a critical
/// model would lose it: the policy chooses nothing then.
class band final : public policy {
 public:
  explicit band(const band_options& options = {}) : options_(options), lla_(options.margin) {}

  std::string name() const override { return options_.stay ? "stay-hold" : options_.hold ? "band-hold" : "band"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override;
  void model_left(model_id model) override { patience_.forget(model); }
  void device_left(device_id device) override { patience_.forget(device); }

 private:
  bool holds(const device_state& device, const policy_view& view);
  std::optional<std::size_t> in_band(const device_state& device, std::span<const candidate> candidates,
                                     const policy_view& view);
  bool own_band(const candidate& own, const device_state& device, const policy_view& view) const;

  band_options options_;
  lla lla_;
  level level_;
  fluid left_;
  patience patience_;
};

}  // namespace hydra
