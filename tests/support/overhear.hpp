#pragma once
// Reads the mailbox of the actor that is about to run: sender, receiver and message, without a change in any actor.

#include "actors/simulation/simulation.hpp"

#include <caf/type_erased_tuple.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace hydra::test {

enum class role {
  nobody,
  supervisor,
  reporter,
  scheduler,
  memory,
  optimizer,
  data,
  controller,
  checkpointer,
  admission,
  device,
  task
};

/// An actor of a run: the second DEVICE is {role::device, 1}.
struct cast_member {
  role part = role::nobody;  ///< nobody: completions, time-outs, set-up code
  std::size_t place = 0;
};

/// "SCHEDULER", "DEVICE 0", "MODEL TASK 2"; empty for nobody.
std::string to_string(const cast_member& c);

/// A message that will be handled next.
struct overheard {
  cast_member from;
  cast_member to;
  const caf::type_erased_tuple* content = nullptr;

  /// The message if it is an M, else null. Valid until the step.
  template <class M>
  const M* get() const {
    return content->match_elements<M>() ? &content->get_as<M>(0) : nullptr;
  }
};

/// The message that `s.step(choice)` will handle; none if a time-out will fire or an actor only starts.
std::optional<overheard> overhear(const simulation& s, std::size_t choice = 0);

/// A choice for s.step() that lets another actor run; none if only this one has something to do.
std::optional<std::size_t> choice_without(const simulation& s, caf::actor_id id);

/// "SCHEDULER -> DEVICE 0 prefetch_shard model 0 step 0 forward 0". Empty for messages outside of the story at the top
/// of protocol.hpp: completions, reports, deaths.
std::string to_text(const overheard& m);

}  // namespace hydra::test
