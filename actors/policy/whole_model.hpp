#pragma once
// Task parallelism: a device trains one model at a time, from its first unit to its last. Standard library only.

#include "actors/policy/policy.hpp"

#include <algorithm>
#include <map>

namespace hydra {

/// A device takes only units of the model bound to it, and nothing while there is none. A free device binds the
/// candidate with the longest remaining time (ties: lower id) that no other device has.
class whole_model final : public policy {
 public:
  std::string name() const override { return "whole-model"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override {
    std::erase_if(bound_, [&](const auto& entry) { return has_computed(entry.second, view); });
    const auto own = bound_.find(device.device);
    const auto choice = own == bound_.end() ? longest_free(candidates) : index_of(own->second, candidates);
    if (!choice) {
      return kept_out(candidates);
    }
    bound_[device.device] = candidates[*choice].next.model;
    return choice;
  }

  void model_left(model_id model) override {
    std::erase_if(bound_, [model](const auto& entry) { return entry.second == model; });
  }

  /// After a failure the device is free for another model, and the model for another device.
  void unit_avoids(model_id model, device_id device) override {
    std::erase_if(bound_, [=](const auto& entry) { return entry.first == device && entry.second == model; });
  }

  void device_left(device_id device) override { bound_.erase(device); }

 private:
  /// Its last unit has ended; only updates are left.
  static bool has_computed(model_id model, const policy_view& view) {
    const auto m = std::ranges::lower_bound(view.models, model, {}, &model_state::model);
    return m != view.models.end() && m->model == model && m->next_cost == duration{} && m->remaining == duration{} &&
           m->staged_units == 0 && !m->running;
  }

  static std::optional<std::size_t> index_of(model_id model, std::span<const candidate> candidates) {
    const auto found = std::ranges::find(candidates, model, [](const candidate& c) { return c.next.model; });
    if (found == candidates.end()) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(found - candidates.begin());
  }

  /// A unit that must not run again on the device of its model, which another lane of it has taken since. Without it no
  /// step of the model would end.
  std::optional<std::size_t> kept_out(std::span<const candidate> candidates) const {
    const auto found = std::ranges::find_if(candidates, [this](const candidate& c) {
      return std::ranges::any_of(c.avoided, [&](device_id d) {
        const auto at = bound_.find(d);
        return at != bound_.end() && at->second == c.next.model;
      });
    });
    return found == candidates.end() ? std::nullopt
                                     : std::optional(static_cast<std::size_t>(found - candidates.begin()));
  }

  std::optional<std::size_t> longest_free(std::span<const candidate> candidates) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const bool longer = !best || candidates[i].remaining > candidates[*best].remaining;
      if (longer && !is_bound(candidates[i].next.model)) {
        best = i;
      }
    }
    return best;
  }

  bool is_bound(model_id model) const {
    return std::ranges::any_of(bound_, [model](const auto& entry) { return entry.second == model; });
  }

  std::map<device_id, model_id> bound_;
};

}  // namespace hydra
