#pragma once
// Messages between SCHEDULER and a policy actor: copies without handles to memory, so that the actor may run in another
// process. Part of protocol.hpp; a header of its own for plug-ins, which include it as <hydra/policy_actor.hpp>.

#include "actors/policy/policy.hpp"
#include "actors/protocol/caf_version.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// POLICY ACTOR -> SCHEDULER: the answer to a request. A choice that is not a candidate (any more) is dropped, and the
/// request is sent again.
struct policy_advised {
  std::uint64_t request = 0;           ///< of the advice_wanted
  device_id device;
  std::optional<unit> choice;          ///< none: keep the slot free for now

  friend auto inspect(auto& f, policy_advised& x) { return f(x.request, x.device, x.choice); }
};

/// Receives the answer.
using advice_receiver = caf::typed_actor<caf::reacts_to<policy_advised>>;

/// SCHEDULER -> POLICY ACTOR: which of `candidates` should `device` stage? Times are SCHEDULER's steady clock: in
/// another process only their differences are meaningful. At most one request per device is open at a time.
struct advice_wanted {
  std::uint64_t request = 0;
  device_state device;
  std::vector<candidate> candidates;
  std::vector<device_state> devices;   ///< as policy_view
  std::vector<model_state> models;
  time_point now{};
  advice_receiver to;

  friend auto inspect(auto& f, advice_wanted& x) {
    return f(x.request, x.device, x.candidates, x.devices, x.models, x.now, x.to);
  }
};

/// POLICY ACTOR: must answer within policy_limits::advice.
using policy_actor = caf::typed_actor<caf::reacts_to<advice_wanted>>;

}  // namespace hydra
