#pragma once
// How fast a workload really gets on. Standard library only.

#include "actors/policy/fluid.hpp"

namespace hydra {

/// What is left of a model is the wall time that it would take alone, the turns of its steps included; but other models
/// run in these turns, and elsewhere transfers of theirs are exposed. So the work of all models takes more or less than the
/// sum of it / the sum of speeds. Watched from decision to decision, over the last fifth of what is left.
class pace {
 public:
  void look(const policy_view& view);

  /// Remaining wall time done per wall time of a device of speed 1; 1 until something was seen.
  double value() const noexcept { return value_; }
  /// When all could be over at this pace, in nanoseconds; at least the bounds of the longest models.
  double end(const fluid& left) const;

 private:
  double work_ = 0;      ///< left at the last look
  double longest_ = 0;
  double speed_ = 0;     ///< of all devices
  time_point at_;
  bool seen_ = false;
  double done_ = 0;
  double spent_ = 0;     ///< of all devices, at speed 1
  double value_ = 1;
};

}  // namespace hydra
