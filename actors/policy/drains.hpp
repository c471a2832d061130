#pragma once
// Whether loads wait for gradients to leave. Standard library only.

#include "actors/policy/policy.hpp"

#include <map>
#include <optional>

namespace hydra {

/// With two cache places the load of the next unit needs the place of the unit before the one that computes. If that was a
/// backward, its gradients may have to leave first, and a short unit between hides neither. No message says so: it
/// is seen in units that begin later than their transfer allows.
class drains {
 public:
  /// Before each choice for a device: when did the unit begin that was placed there last?
  void look(const device_state& device, const policy_view& view);
  /// The choice.
  void placed(const device_state& device, const candidate& c, const policy_view& view);
  void forget(device_id device) { last_.erase(device); }

  /// Loads behind a backward have waited for a quarter of their own time, in the mean.
  bool seen() const noexcept;
  /// What the unit placed last on the device was.
  std::optional<direction> way(const device_state& device) const;

 private:
  struct visit {
    candidate what;
    std::optional<direction> before;   ///< the unit that computed while it was staged
    std::optional<direction> place;    ///< the one before that
    duration until_free{};
    time_point expected;               ///< it can begin
    bool begun = false;
  };
  void learn(const visit& v, duration late);

  std::map<device_id, visit> last_;
  double waited_ = 0;
  double loaded_ = 0;
};

}  // namespace hydra
