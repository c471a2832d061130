#pragma once
// Commands to models of a run under way: a session's thread or the CONTROLLER, SUPERVISOR and MODEL TASK ("checkpoint,
// pause, end of a model" in protocol.hpp).

#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/step_shape.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace hydra {

enum class model_command : std::uint8_t {
  stop,                 ///< it ends with the step that has begun
  pause,                ///< it is saved where it is, and gives its memory back
  pause_between_steps,  ///< the same at the end of the step that has begun: devices with other cuts can continue it
  drop,                 ///< it is paused without being saved; in a run that begins paused also one that has ended
  resume,               ///< a paused model continues where it was saved, when there is memory for it
  save,                 ///< between two steps, the next time that it is there, if it is being trained
};

/// Called once: with what is wrong, or without a fault when it is done (a pause: when the memory is free; stop and
/// resume: when accepted). Destroyed uncalled if the run ends before.
using command_sink = std::function<void(const fault&)>;

struct steer_model {
  std::string name;
  model_command what = model_command::stop;
  command_sink answer;  ///< may be null
  step_share share{};   ///< with which it is resumed
};

/// To the MODEL TASK, as the next one.
struct stop_model {};
struct pause_model {
  bool between_steps = false;
  bool saves = true;
};

/// To the MODEL TASK: save it between two steps, and continue.
struct keep_model {};
struct model_kept {
  model_id model;
  fault why;
};

/// The model could not be saved and continues.
struct pause_failed {
  model_id model;
  fault why;
};

}  // namespace hydra
