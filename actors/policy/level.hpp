#pragma once
// Level scheduling for devices of several speeds (scheduling page, section 2). Standard library only.

#include "actors/policy/fluid.hpp"
#include "actors/policy/longest_first.hpp"

#include <cstddef>
#include <vector>

namespace hydra {

/// Devices are ranked by speed, models by remaining time: a device with r faster ones takes the longest feasible
/// candidate at position >= r. A candidate is feasible if it may run its next unit here and still end within the fluid
/// bound. Chooses nothing if a faster device would end the unit sooner.
class level final : public policy {
 public:
  std::string name() const override { return "level"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override;

  /// The same, for policies that have computed it already. Position of a model in the order by remaining time: rank().
  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view, const fluid& left);

  /// Number of models with a longer remaining time (of equals, with a lower id), as of the last choose().
  std::size_t rank(const candidate& c) const { return ranks_.at(c.model_at); }

 private:
  void rank_models(const policy_view& view);
  void sort_candidates(std::span<const candidate> candidates);
  bool feasible(const candidate& c, const device_state& device, const policy_view& view, const fluid& left) const;
  std::size_t second_best(const device_state& device, std::span<const candidate> candidates, const policy_view& view,
                          const fluid& left) const;
  bool sooner_elsewhere(const candidate& c, const device_state& device, const policy_view& view) const;

  fluid left_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> ranks_;    ///< by index in the view
  std::vector<std::size_t> sorted_;   ///< candidates by rank
};

/// Devices that are faster than `device`.
std::size_t faster_devices(const device_state& device, const policy_view& view);

}  // namespace hydra
