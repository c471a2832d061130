#pragma once
// The units that may be staged, as each device sees them. Standard library only.

#include "actors/policy/policy.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace hydra {

/// At most one candidate per model. Kept up to date event by event: what any device may stage is one shared list, and
/// only what differs (units bound to the device, parameters it holds) is patched into a copy for it.
class candidate_list {
 public:
  /// Who may stage a candidate.
  struct limits {
    std::optional<device_id> bound_to;  ///< only this device
    std::optional<device_id> avoid;     ///< not this device
  };
  /// Replaces the model's candidate. `holders`: devices that have the parameters, so that `transfer` is 0 there.
  void put(const candidate& c, const limits& who, std::span<const device_id> holders);
  void drop(model_id model);

  /// What the device may stage now, in the order of model ids. Valid until the next call.
  std::span<const candidate> of(device_id device);
  /// Without a copy.
  bool any_for(device_id device) const;
  std::size_t size() const noexcept { return places_.size(); }

 private:
  struct place {
    limits who;
    std::vector<device_id> holders;
  };
  struct differences {
    std::vector<candidate> bound;
    std::vector<model_id> held;    ///< models whose candidate's parameters the device holds
    std::vector<model_id> avoided;
    bool none() const { return bound.empty() && held.empty() && avoided.empty(); }
  };
  std::vector<candidate>& list_of(const place& p);

  std::vector<candidate> open_;
  std::map<device_id, differences> differences_;
  std::unordered_map<model_id, place> places_;
  std::vector<candidate> patched_;
};

}  // namespace hydra
