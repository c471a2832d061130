#pragma once
// What a run that is under way does now ("begin and end of a run" in protocol.hpp).

#include "actors/protocol/expense.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/device.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

enum class model_phase : std::uint8_t {
  waiting,  ///< for memory
  training,
  pausing,   ///< it is being saved
  paused,    ///< saved; it continues when it is resumed
  finished,  ///< as planned
  stopped,   ///< before its last step
  failed,    ///< or its run was halted: its parameters are not a result
};

struct model_now {
  std::string name;
  model_phase phase = model_phase::waiting;
  std::uint32_t steps = 0;             ///< complete
  std::optional<std::uint32_t> of{};   ///< none before the model has joined
  std::optional<float> loss{};         ///< of the last step
  std::optional<double> validation{};  ///< loss of the last evaluation
  std::optional<double> learning_rate{};  ///< of the last step
  std::string note{};                  ///< what a model waits for, why it failed
  fault_code why = fault_code::none;   ///< of one that has failed
  bool released = false;               ///< it has ended, its last checkpoint is complete, and its memory is free
  std::string digest{};                ///< of its parameters then, if it has not failed
  bool unsaved = false;                ///< it has ended, and its last checkpoint could not be written
  std::uint32_t checkpoints = 0;       ///< that this run has saved of it, but for best states
  expense spent{};        ///< its share of the run's so far
  duration step_work{};   ///< smallest times of the units of a step, added, at speed 1; as far as they are known
  duration step_chain{};  ///< of those that follow each other, from one step to the next
};

struct device_now {
  std::string name;
  double busy = 0;  ///< computing: share of the time since the start
  memory_usage memory;
};

struct run_status {
  std::vector<model_now> models{};  ///< in the order of the workload, then of joining; then those that have not joined
  std::vector<device_now> devices{};
  memory_usage host{};
  duration elapsed{};  ///< since the start
  expense spent{};     ///< since then, of all devices and the host
  std::string currency{};
};

/// Called once, or destroyed with the message if the run is over.
using status_sink = std::function<void(run_status)>;

/// A line of metrics.jsonl, as it stands there.
struct metrics_line {
  std::string model{};
  std::string text{};   ///< with its end
  bool before = false;  ///< of a step before it joined, in the checkpoint that it begins from
};

using metrics_sink = std::function<void(const metrics_line&)>;

/// To the SUPERVISOR, which fills in the models with their phases and passes it to the REPORTER, which fills in the
/// rest and answers.
struct read_status {
  status_sink answer;
  run_status status{};
};

}  // namespace hydra
