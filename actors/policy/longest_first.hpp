#pragma once
// Helpers for choosing the best candidate, shared by most policies. Standard library only.

#include "actors/policy/policy.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace hydra {

/// Index of the candidate for which `better(a, b)` holds against all before it; of equals the device's own model, then
/// the lower id. `better` is a strict weak order.
template <class Better>
std::size_t best_candidate(const device_state& device, std::span<const candidate> candidates, const Better& better) {
  const auto own = device.last;
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const auto& c = candidates[i];
    const auto& b = candidates[best];
    if (better(c, b) || (!better(b, c) && c.next.model == own)) {
      best = i;
    }
  }
  return best;
}

/// The longest remaining time.
inline std::size_t longest_first(const device_state& device, std::span<const candidate> candidates) {
  return best_candidate(device, candidates,
                        [](const candidate& a, const candidate& b) { return a.remaining > b.remaining; });
}

/// Index of the candidate of a model, if it has one.
inline std::optional<std::size_t> candidate_of(std::optional<model_id> model, std::span<const candidate> candidates) {
  for (std::size_t i = 0; model && i < candidates.size(); ++i) {
    if (candidates[i].next.model == *model) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace hydra
