#pragma once
// What all actors of a run share.

#include "runtime/base/log.hpp"

#include <memory>

namespace hydra {

class executor;
class host_arena;
class kept_parameters;
class step_partners;
class trace;

/// Shared by all actors of a run; none of it is owned by an actor.
struct run_services {
  std::shared_ptr<spdlog::logger> log;   ///< never null
  trace* spans = nullptr;                ///< may be null
  host_arena* arena = nullptr;
  executor* update_executor = nullptr;
  kept_parameters* kept = nullptr;       ///< null: parameters of ended models are not kept
  step_partners* partners = nullptr;     ///< null: there are none
};

struct policy_actor_source;
class advised_policy;

}  // namespace hydra
