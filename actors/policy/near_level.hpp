#pragma once
// Level scheduling in which devices stay with their models as long as that costs little. Standard library only.

#include "actors/policy/level.hpp"

namespace hydra {

/// Level's answer p, unless the device's own model is nearly as good: p is not longer than it by `units` of its units
/// and the transfers it saves; nor is it longer than p by that amount scaled by how much slower the device is than the
/// fastest, unless all faster devices come before it in the order by remaining time anyway.
class near_level {
 public:
  explicit near_level(double units) : units_(units) {}

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view, const fluid& left);

 private:
  double units_;
  level level_;
};

}  // namespace hydra
