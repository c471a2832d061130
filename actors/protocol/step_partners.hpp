#pragma once
// The other nodes that compute replicas of the same training steps (step_share), as a run sees them.

#include "runtime/base/fault.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Values of the replicas of a step, in their order.
struct partner_exchange {
  std::string model;
  std::uint64_t team = 0;    ///< step_share::team: those of an earlier one have no effect
  std::uint64_t number = 0;  ///< grows; the same on all nodes for the same values, however each has cut the model
  /// Then each span has the sum of all replicas, added in their order, and those of replicas elsewhere are empty. Else
  /// each has the values of its replica.
  bool adds = false;
  std::vector<std::span<float>> replicas;
  /// once, in the order of numbers, on any thread, or never; keeps the values alive
  std::function<void(const fault&)> done;
};

/// Thread-safe.
class step_partners {
 public:
  virtual ~step_partners() = default;
  virtual void exchange(partner_exchange values) = 0;
};

}  // namespace hydra
