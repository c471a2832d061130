#include "actors/policy/near_level.hpp"

namespace hydra {

std::optional<std::size_t> near_level::choose(const device_state& device, std::span<const candidate> candidates,
                                              const policy_view& view, const fluid& left) {
  const auto p = level_.choose(device, candidates, view, left);
  const auto own = candidate_of(device.last, candidates);
  if (!p || !own) {
    return p;
  }
  const auto& mine = candidates[*own];
  const auto& other = candidates[*p];
  const auto longer = static_cast<double>((other.remaining - mine.remaining).count());
  const auto gain = units_ * static_cast<double>(mine.cost.count()) +
                    static_cast<double>((other.transfer_time - mine.transfer_time).count());
  const bool too_long =
      level_.rank(mine) < faster_devices(device, view) && -longer >= gain * device.speed / left.fastest();
  return longer < gain && !too_long ? own : p;
}

}  // namespace hydra
