#pragma once
// How long visits and loads of each model take, as candidates show it. Standard library only.

#include "actors/policy/policy.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

namespace hydra {

/// Of a model: sums over the shards that were seen.
struct visit_times {
  duration forward{};        ///< forward visits
  duration forward_loads{};  ///< of the shards that they visit
  duration backward{};       ///< backward visits; one that was not seen yet takes two forward ones
  duration backward_loads{};
  duration longest_backward{};

  /// Forward visits do not hide the loads of the next ones.
  bool loads_slowly() const noexcept { return forward > duration{} && forward_loads > forward; }
  /// Nor do forward and backward visits together: the link, not the device, decides.
  bool loads_longest() const noexcept { return forward_loads + backward_loads > forward + backward; }
};

class seen_times {
 public:
  void look(std::span<const candidate> candidates, const policy_view& view) {
    for (const auto& c : candidates) {
      auto& m = all_[c.next.model];
      const bool trained = c.next.shard.value >= view.models[c.model_at].shape.first_trained;
      m.shards.resize(std::max<std::size_t>(m.shards.size(), c.next.shard.value + std::size_t{1}));
      auto& s = m.shards[c.next.shard.value];
      add(m.sums, s, -1);
      see(s, c, trained);
      add(m.sums, s, 1);
      m.sums.longest_backward = std::max(m.sums.longest_backward, s.backward);
    }
  }
  /// It has been a candidate.
  const visit_times& of(model_id model) const { return all_.at(model).sums; }
  void forget(model_id model) { all_.erase(model); }

 private:
  struct shard_times {
    duration load{};
    duration forward{};
    duration backward{};  ///< the shortest that was seen: with what its forward visit had saved
    bool trained = true;
  };
  struct model_times {
    std::vector<shard_times> shards;
    visit_times sums;
  };

  static void see(shard_times& s, const candidate& c, bool trained) {
    s.trained = trained;
    s.load = c.hit ? s.load : c.transfer_time - c.boundary_time;
    if (c.next.way == direction::forward) {
      s.forward = c.cost;
    } else if (c.next.way == direction::backward) {
      s.backward = s.backward > duration{} ? std::min(s.backward, c.cost) : c.cost;
    }
  }

  static void add(visit_times& sums, const shard_times& s, int times) {
    const auto backward = s.backward > duration{} || !s.trained ? s.backward : 2 * s.forward;
    sums.forward += times * s.forward;
    sums.forward_loads += s.forward > duration{} ? times * s.load : duration{};
    sums.backward += times * backward;
    sums.backward_loads += backward > duration{} ? times * s.load : duration{};
  }

  std::map<model_id, model_times> all_;
};

}  // namespace hydra
