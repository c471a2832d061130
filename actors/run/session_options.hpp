#pragma once
// What a user decides about a run as a whole.

#include "actors/policy/device_watch.hpp"
#include "actors/policy/policy_limits.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/log.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace hydra {

/// Measurements with parts of the system switched off; all results stay the same.
struct ablation_options {
  bool double_buffer = true;     ///< false: nothing is staged while a unit computes
  bool cache = true;             ///< false: blocks leave the device with their visit
  bool copy_back_clean = false;  ///< true: parameters of forward visits are copied to the host, to no purpose
  bool sharp = true;             ///< false: one model after the other
};

/// When models are saved under `output`/checkpoints. Each is also saved when it ends and when the run is interrupted.
struct checkpoint_options {
  std::uint32_t every_steps = 0;      ///< of each model; 0: not by steps
  double every_minutes = 10;          ///< of each model; 0: not by time
  std::uint32_t keep = 2;             ///< newest checkpoints per model; 0: nothing is saved
};

struct session_options {
  std::uint64_t seed = 0;
  std::string name = "run";
  byte_count host_memory{};           ///< cap; 0 = 75 % of what is available
  int optimizer_threads = 0;          ///< 0 = half the cores, at least 1
  /// Where parameters are updated; the results are the same. Shards with tied parameters or running averages, and models
  /// that clip, are updated on the host whatever is asked for.
  optimizer_place optimizer_on = optimizer_place::host;
  std::filesystem::path output{};     ///< run folder for report.json, trace.json, plan.json; empty = none
  verbosity log = verbosity::normal;
  bool progress = false;              ///< live progress on stderr
  ablation_options ablation{};
  checkpoint_options checkpoint{};
  bool resume = false;                ///< go on from the newest checkpoints under `output`, where there are any
  duration stall_limit = std::chrono::minutes(10);  ///< a run without any progress for so long ends with a fault
  policy_limits policies{};           ///< when a policy of a plug-in or a policy actor is replaced
  watch_limits watch{};               ///< when a device that gives no sign of life counts as lost
  duration stop_limit = std::chrono::seconds(10);   ///< at the end a device that still computes is awaited no longer
  /// Parameters of models that have ended stay in host memory for parameters(), until a model that joins needs their room;
  /// their chains and shards stay with them. All else that a model has there is given back when it has ended and its last
  /// checkpoint is written.
  bool keep_parameters = true;
};

}  // namespace hydra
