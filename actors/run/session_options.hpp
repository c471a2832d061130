#pragma once
// A user's options for a run as a whole.

#include "actors/policy/device_watch.hpp"
#include "actors/policy/policy_limits.hpp"
#include "actors/report/expense_terms.hpp"
#include "actors/report/run_goal.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/verbosity.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

class step_partners;

/// Ablations: measurements with parts of the system switched off; all results stay the same.
struct ablation_options {
  bool double_buffer = true;     ///< false: nothing is staged while a unit computes
  bool cache = true;             ///< false: blocks are freed with their visit
  bool save = true;              ///< false: backward visits always compute the forward again
  bool copy_back_clean = false;  ///< true: unchanged parameters of forward visits are copied to the host
  bool sharp = true;             ///< false: one model after the other
  bool share = true;             ///< false: each model has frozen parameters of its own
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
  byte_count host_memory{};           ///< budget; 0 = 75 % of the available memory
  run_goal goal{};                    ///< which of its devices the run uses
  run_terms terms{};                  ///< of the host, and currency; devices have their own (session::add_devices)
  int optimizer_threads = 0;          ///< 0 = half the cores, at least 1
  /// Where parameters are updated; the results are the same. Shards with tied parameters or running averages, and
  /// models with gradient clipping, are always updated on the host.
  optimizer_place optimizer_on = optimizer_place::host;
  std::filesystem::path output{};     ///< run folder for report.json, trace.json, plan.json; empty = none
  bool tensorboard = false;           ///< writes what metrics.jsonl has for TensorBoard, too
  verbosity log = verbosity::normal;
  bool progress = false;              ///< live progress on stderr
  ablation_options ablation{};
  checkpoint_options checkpoint{};
  bool resume = false;                ///< resume from the newest checkpoints under `output`, if there are any
  std::vector<std::string> stopped{}; ///< models that end when the run begins, at the latest with their next step:
                                      ///< session::stop() had been called for them in an earlier part of it
  /// No model is trained before it is resumed (session::resume); it then starts from its newest checkpoint under
  /// `output`, if there is one. The run has no end of its own: session::interrupt() ends it. Needs `output`, and
  /// checkpoint.keep of 1 or more. Models that the machine cannot hold are left out (session::left_out).
  bool begin_paused = false;
  duration stall_limit = std::chrono::minutes(10);  ///< a run without progress for so long ends with a fault
  policy_limits policies{};           ///< when a policy of a plug-in or a policy actor is replaced
  watch_limits watch{};               ///< when a device that does not respond counts as lost
  duration stop_limit = std::chrono::seconds(10);   ///< at the end: how long to wait for a device that still computes
  /// Parameters of models that have ended stay in host memory for parameters(), until a model that joins needs the
  /// memory; their chains and shards stay, too. All other memory of a model is freed when it has ended and its last
  /// checkpoint is written.
  bool keep_parameters = true;
  std::shared_ptr<step_partners> partners{};  ///< of models that are resumed with a share of their steps; null: none
};

/// The options as they are. Throws fault_error{bad_input} for those that are out of range.
session_options checked(session_options o);

}  // namespace hydra
