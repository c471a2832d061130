#pragma once
// The remaining work of a workload as a fluid: the earliest end of all of it, and which models are critical for that
// end. Standard library only.

#include "actors/policy/policy.hpp"

#include <vector>

namespace hydra {

/// When a model is critical: laxity <= units * its longest unit + share * the fluid bound.
struct critical_margin {
  double units = 4;
  double share = 0.03;
};

/// Of one decision. Times are nanoseconds as doubles: they are only compared, never accumulated.
class fluid {
 public:
  /// Horvath, Lam, Sethi (1977) over the remaining work A of each model (unplaced, staged, rest of what computes):
  /// max( max_(k < devices) (k largest A) / (k fastest speeds), sum A / sum of speeds ).
  void look(const policy_view& view);

  double end() const noexcept { return end_; }
  double fastest() const noexcept { return fastest_; }
  double until_free(const device_state& d, const policy_view& view) const {
    return static_cast<double>(view.until_free(d).count());
  }
  /// Time for which a model with `remaining` could still wait once the device is free.
  double laxity(const device_state& d, duration remaining, const policy_view& view) const {
    return end_ - until_free(d, view) - static_cast<double>(remaining.count()) / fastest_;
  }
  /// Of the longest next unit of all models.
  double margin(const critical_margin& m, const policy_view& view) const;
  /// Of one unit.
  double margin(const critical_margin& m, duration unit) const {
    return m.units * static_cast<double>(unit.count()) + m.share * end_;
  }

 private:
  double end_ = 0;
  double fastest_ = 1;
  std::vector<double> work_;
  std::vector<double> speeds_;
};

/// Remaining wall time of a model at speed 1: unplaced, staged, and the rest of what computes.
double work_left(const model_state& m, const policy_view& view);

}  // namespace hydra
