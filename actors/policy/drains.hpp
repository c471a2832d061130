#pragma once
// Detects whether loads wait for the write-back of gradients. Standard library only.

#include "actors/policy/policy.hpp"

#include <map>
#include <optional>

namespace hydra {

/// With two cache slots the load of the next unit needs the slot of the unit before the one that computes. If that was
/// a backward, its gradients may have to be written back first, and a short unit in between hides neither. No message
/// reports this: it is inferred from units that start later than their transfer explains.
class drains {
 public:
  /// To be called before each choice for a device: records when the unit that was placed there last has started.
  void look(const device_state& device, const policy_view& view);
  /// Records the choice.
  void placed(const device_state& device, const candidate& c, const policy_view& view);
  void forget(device_id device) { last_.erase(device); }

  /// True if loads after a backward have waited for a quarter of their own time on average.
  bool seen() const noexcept;
  /// The unit placed last on the device.
  std::optional<direction> way(const device_state& device) const;

 private:
  struct visit {
    candidate what;
    std::optional<direction> before;   ///< the unit that computed while it was staged
    std::optional<direction> place;    ///< the one before that
    duration until_free{};
    bool behind = false;
    time_point expected;               ///< it can start then
    bool begun = false;
  };
  void learn(const visit& v, duration late);

  std::map<device_id, visit> last_;
  double waited_ = 0;
  double loaded_ = 0;
};

}  // namespace hydra
