#pragma once
// What is demanded of policies that are not built in. Standard library only.

#include "runtime/base/bytes.hpp"

#include <chrono>

namespace hydra {

/// Beyond them a policy is replaced by sharded-lrtf.
struct policy_limits {
  duration decision = std::chrono::milliseconds(100);  ///< wall time of one call of a plug-in's policy
  bool trusted = false;  ///< a plug-in's policy is asked in place, as built-in ones, and has no such limit
  duration advice = std::chrono::seconds(1);           ///< until a policy actor has answered a request
};

}  // namespace hydra
