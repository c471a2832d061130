#pragma once
// The begin and the end of a run, lost devices, and runs that stand still (9 of the story in protocol.hpp).

#include "actors/protocol/events.hpp"
#include "actors/protocol/interfaces.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// The run starts: devices offer their credit, tasks announce their first unit, those of models that arrive later then.
struct begin_run {
  time_point at;                       ///< the times of the workload count from here
};

/// All actors of a run, for the SUPERVISOR; it monitors them and starts the run.
struct actors_spawned {
  std::vector<device_actor> devices;   ///< position = device id
  std::vector<task_actor> tasks;       ///< position = model id
  scheduler_actor scheduler;
  memory_actor memory;
  optimizer_actor optimizer;
  data_actor data;
  controller_actor controller;         ///< null without callbacks
  observations observed{};             ///< by it
  checkpoint_actor checkpointer;       ///< null without checkpoints
  admission_actor admission;           ///< null: no model can join
  reporter_actor reporter;
  supervisor_actor supervisor;
};

/// Fences a device: nothing it says counts any more.
struct device_lost {
  device_id device;
  fault why;
};

/// The SCHEDULER does without this device: it gives no sign of life, or throws whatever it is given.
struct device_given_up {
  device_id device;
  fault why;
};

/// Counters of a device at its end.
struct device_retired {
  device_id device;
  duration busy{};
  duration exposed_transfer{};
  byte_count h2d_bytes;
  byte_count d2h_bytes;
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
  std::string leftovers;           ///< what it still held, a line each; empty at the end of a healthy run
};

struct scheduler_retired {
  std::string policy;              ///< that decided last
  std::uint64_t decisions = 0;
  duration mean{};                 ///< wall time of a decision round
  duration p99{};
  std::optional<time_point> first_placement;
  std::vector<std::string> replacements;   ///< of policies that failed or did not work, a line each
  std::uint64_t dropped_advice = 0;        ///< answers of a policy actor that named no candidate
};

/// Local only: carries memory.
struct memory_retired {
  std::string leftovers;           ///< leases and write-back buffers that never came back
  std::map<model_id, std::vector<shard_home>> homes;   ///< of every model that is not released
};

/// From outside: stop as soon as the units that compute now are complete. Once more: stop now.
struct interrupt_run {};

/// The run does not go on (interrupted, no device left, an actor died, no progress): every task ends with this fault; if
/// `save`, when it has been saved.
struct run_aborted {
  fault why;
  bool save = false;
};

/// Nothing has happened for too long: everybody is asked what he holds, then the run is halted. If nothing happens for as
/// long again, it is not saved any more.
struct run_stalled {
  fault why;
  reporter_actor reporter;
};

struct report_state {
  reporter_actor to;
};

/// Leases, slots, units and messages that somebody waits for, a line each; empty: nothing.
struct state_reported {
  std::string who;
  std::string what;
};

/// The reporter's own clock: has anything happened since?
struct check_progress {
  std::uint64_t last_seen = 0;
};

struct shut_down {};

}  // namespace hydra
