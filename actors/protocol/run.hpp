#pragma once
// Start and end of a run, lost devices, and runs without progress (two of the stories in protocol.hpp).

#include "actors/protocol/events.hpp"
#include "actors/protocol/interfaces.hpp"
#include "partition/execute/model_update.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// The run starts: devices offer their credit, tasks announce their first unit (at its arrival, if the model arrives
/// later).
struct begin_run {
  time_point at;                       ///< the times of the workload count from here
};

/// All actors of a run, for the SUPERVISOR, which monitors them and starts the run.
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

/// The SCHEDULER gives up this device: it does not respond, or units throw there that other devices complete.
struct device_given_up {
  device_id device;
  fault why;
};

/// Counters of a device at its end, or `early`, when its actor ends because it is lost.
struct device_retired {
  device_id device;
  duration busy{};
  duration exposed_transfer{};
  byte_count h2d_bytes;
  byte_count d2h_bytes;
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
  std::uint64_t saved = 0;         ///< backward micro-batches that had what their forward visit saved
  std::uint64_t recomputed = 0;    ///< those that had not
  std::string leftovers;           ///< what it still held, one per line; empty at the end of a healthy run
  bool early = false;
  std::string why;                 ///< its actor has failed: the fault; else empty
};

struct scheduler_retired {
  std::string policy;              ///< that decided last
  std::uint64_t decisions = 0;
  duration mean{};                 ///< wall time of a decision round
  duration p99{};
  duration waited{};               ///< for decisions, of idle devices that got a unit by them; summed
  std::optional<time_point> first_placement;
  std::vector<std::string> replacements;   ///< of policies that failed or chose nothing, one per line
  std::uint64_t dropped_advice = 0;        ///< answers of a policy actor that did not name a candidate
};

/// Local only: carries memory.
struct memory_retired {
  std::string leftovers;           ///< leases and write-back buffers that were never returned
  std::map<model_id, std::vector<shard_home>> homes;   ///< of every model that is not released
};

/// From outside: stop as soon as the units that compute now are complete. Once more: stop now.
struct interrupt_run {};

/// The run is halted (interrupted, no device left, an actor died, no progress): every task ends with this fault; if
/// `save`, after it has been saved.
struct run_aborted {
  fault why;
  bool save = false;
};

/// No progress for too long: every actor is asked for its state, then the run is halted. If there is no progress for as
/// long again, it ends without saving.
struct run_stalled {
  fault why;
  reporter_actor reporter;
};

struct report_state {
  reporter_actor to;
};

/// Leases, slots, units and messages that the actor waits for, one per line; empty: none.
struct state_reported {
  std::string who;
  std::string what;
};

/// Timer of the REPORTER: checks whether there was progress since the last one.
struct check_progress {
  std::uint64_t last_seen = 0;
};

/// Timer of the REPORTER where energy is measured: the host's meter starts again at 0 every few minutes.
struct read_meters {};

struct shut_down {};

}  // namespace hydra
