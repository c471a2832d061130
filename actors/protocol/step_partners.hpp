#pragma once
// The other nodes that compute replicas of the same training steps (step_share), as a run sees them.

#include "runtime/base/fault.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Values of the replicas of a step, in their order.
struct partner_exchange {
  std::string model;
  /// Then each span has the sum of all replicas, added in their order, and those of replicas elsewhere are empty. Else each has
  /// the values of its replica.
  bool adds = false;
  std::vector<std::span<float>> replicas;
  std::function<void(const fault&)> done;  ///< once, on any thread, or never; the values live as long as this
};

/// Thread-safe.
class step_partners {
 public:
  virtual ~step_partners() = default;

  /// All nodes exchange the same values of a model in the same order.
  virtual void exchange(partner_exchange values) = 0;
};

}  // namespace hydra
