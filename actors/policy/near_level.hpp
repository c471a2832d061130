#pragma once
// Level scheduling whose devices stay with their models as long as that costs little. Standard library only.

#include "actors/policy/level.hpp"

namespace hydra {

/// Level's answer p, unless the device's own model is nearly as good: p is not longer than it by `units` of its units and
/// the transfers it saves; nor it longer than p by as much of this as the device is slower than the fastest, unless
/// the model's place in the order by remaining time is behind all faster devices anyway.
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
