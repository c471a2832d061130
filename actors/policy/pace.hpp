#pragma once
// The measured pace of a workload. Standard library only.

#include "actors/policy/fluid.hpp"

namespace hydra {

/// The remaining time of a model is the wall time that it would take alone, including its step boundaries; but other
/// models run during these boundaries, and at other times their transfers are exposed. So the work of all models takes
/// more or less than its sum / the sum of speeds. Measured from decision to decision, over the last fifth of the
/// remaining work.
class pace {
 public:
  void look(const policy_view& view);

  /// Remaining wall time done per wall time of a device of speed 1; 1 until something was measured.
  double value() const noexcept { return value_; }
  /// The end of all models at this pace, in nanoseconds; at least the bounds of the longest models.
  double end(const fluid& left) const;

 private:
  double work_ = 0;      ///< remaining at the last decision
  double longest_ = 0;
  double speed_ = 0;     ///< of all devices
  time_point at_;
  bool seen_ = false;
  double done_ = 0;
  double spent_ = 0;     ///< of all devices, at speed 1
  double value_ = 1;
};

}  // namespace hydra
