#pragma once
// A policy actor that a run is to have.

#include "runtime/base/bytes.hpp"

#include <memory>

namespace hydra {

class advised_policy;
struct policy_actor_source;

/// A policy actor, and the object in run_setup::chosen that asks it; both may be null.
struct policy_actor_setup {
  std::shared_ptr<const policy_actor_source> source;
  advised_policy* asks = nullptr;
  duration limit{};                      ///< until it has answered a request
  bool apart = false;                    ///< it is in another actor system
};

}  // namespace hydra
