#pragma once
// How long visits and loads of each model take, as candidates show it. Standard library only.

#include "actors/policy/policy.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace hydra {

/// Of a model, as seen last; zero: not yet.
struct visit_times {
  duration load{};
  duration forward{};
  duration backward{};
  duration longest_backward{};

  /// One forward visit does not hide the load of the next one.
  bool loads_slowly() const noexcept { return forward > duration{} && load > forward; }
  /// Nor does the mean visit: the link, not the device, decides.
  bool loads_longest() const noexcept {
    return 2 * load > forward + (backward > duration{} ? backward : 2 * forward);
  }
};

class seen_times {
 public:
  void look(std::span<const candidate> candidates) {
    for (const auto& c : candidates) {
      auto& t = all_[c.next.model];
      t.load = c.hit ? t.load : c.transfer_time - c.boundary_time;
      if (c.next.way != direction::evaluate) {
        (c.next.way == direction::forward ? t.forward : t.backward) = c.cost;
      }
      t.longest_backward = std::max(t.longest_backward, t.backward);
    }
  }
  /// It has been a candidate.
  const visit_times& of(model_id model) const { return all_.at(model); }
  void forget(model_id model) { all_.erase(model); }

 private:
  std::map<model_id, visit_times> all_;
};

}  // namespace hydra
