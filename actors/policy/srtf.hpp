#pragma once
// Shortest remaining time first, for mean completion. Standard library only.

#include "actors/policy/longest_first.hpp"

namespace hydra {

/// The candidate with the least remaining time per priority. Of equals the model that the device computes, or computed
/// last, then the lower id. With affinity a device stays with its model unless another is shorter by more than a few
/// units.
class srtf final : public policy {
 public:
  /// `affinity`: by how many of its units the device's own model may be longer and still be chosen.
  explicit srtf(double affinity = 0) : affinity_(affinity) {}

  std::string name() const override { return "srtf"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override {
    const auto weighed = [&](const candidate& c) { return left(c) / priority(c, view); };
    const auto best = best_candidate(device, candidates, [&](const candidate& a, const candidate& b) {
      return weighed(a) < weighed(b);
    });
    const auto own = candidate_of(device.last, candidates);
    if (own && weighed(candidates[*own]) - weighed(candidates[best]) < affinity_ * cost(candidates[*own], view)) {
      return own;
    }
    return best;
  }

 private:
  static double left(const candidate& c) { return static_cast<double>(c.remaining.count()); }
  static double priority(const candidate& c, const policy_view& view) {
    return c.model_at < view.models.size() ? view.models[c.model_at].priority : 1;
  }
  static double cost(const candidate& c, const policy_view& view) {
    return static_cast<double>(c.cost.count()) / priority(c, view);
  }

  double affinity_;
};

}  // namespace hydra
