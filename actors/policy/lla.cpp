#include "actors/policy/lla.hpp"

namespace hydra {

std::size_t lla::choose(const device_state& device, std::span<const candidate> candidates, const policy_view& view,
                        const fluid& left, relaxed_choice relaxed) const {
  // The longest candidate has the least laxity: if it is not critical, none is.
  const auto longest = longest_first(device, candidates);
  const bool critical = left.laxity(device, candidates[longest].remaining, view) <= left.margin(margin_, view);
  return critical ? longest : relaxed(device, candidates);
}

std::size_t lla::least_transfer(const device_state& device, std::span<const candidate> candidates) {
  return best_candidate(device, candidates, [](const candidate& a, const candidate& b) {
    return a.transfer_time != b.transfer_time ? a.transfer_time < b.transfer_time : a.remaining > b.remaining;
  });
}

}  // namespace hydra
