#pragma once
// The record of a run, collected by the REPORTER.

#include "actors/device/device_pipeline.hpp"
#include "actors/policy/bounds.hpp"
#include "actors/protocol/model_entry.hpp"
#include "actors/report/expenses.hpp"
#include "actors/report/time_breakdown.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/checkpoint/model_history.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// The result of one model.
struct model_outcome {
  std::uint32_t steps = 0;
  bool ended = false;
  bool stopped = false;
  bool paused = false;  ///< and not resumed
  bool waits = false;   ///< for memory, since the start of the run
  fault why;
  fault unsaved;
  std::string digest;                    ///< of a finished model that was released
  std::uint32_t steps_before = 0;        ///< complete before this run
  std::uint32_t checkpoints = 0;         ///< as in model_now
  model_history history;
  unit_times smallest;                   ///< per class, at speed 1
  unit_times usual;                      ///< their means
  pipeline_time pipeline;
  duration arrival{};                    ///< since the start of the run
  std::optional<time_point> first_completion;
  std::optional<time_point> last_update;  ///< or evaluation
};

struct device_outcome {
  pipeline_counters counters;
  time_breakdown time;
  bool retired = false;                  ///< at the end of the run
  bool lost = false;
  std::string reason;                    ///< why it was lost
};

/// A model that was to be added to a run under way.
struct refused_model {
  std::string name;
  fault why;
  bool answered = false;  ///< as in model_refused
};

struct run_record {
  std::vector<model_outcome> models;     ///< models that have joined come last
  std::map<model_id, model_entry> joined;  ///< during the run; without data if the model was released and, unless
                                           ///< parameters are kept, without chain and shards
  std::map<model_id, std::vector<shard_home>> homes;   ///< at the end, of models not released; empty if the MEMORY
                                                       ///< MANAGER has died
  std::vector<refused_model> refused;
  std::vector<device_outcome> devices;
  std::string policy;
  std::uint64_t decisions = 0;
  duration decision_mean{};
  duration decision_p99{};
  duration decision_wait{};
  std::vector<std::string> replacements; ///< of policies that failed or chose nothing, one per line
  std::uint64_t dropped_advice = 0;      ///< answers of a policy actor that did not name a candidate
  run_work work;
  run_expenses spent;                    ///< for it
  duration optimizer_busy{};
  int optimizer_workers = 1;
  time_point began{};                    ///< the run
  std::optional<time_point> first_prefetch;
  std::optional<time_point> last_update; ///< or evaluation
  std::optional<time_point> saved;       ///< when the last model was saved, if models are saved
  checkpoint_totals checkpoints;
  std::vector<std::string> callbacks_failed;  ///< those that have thrown: why, and after which event
  std::string callbacks_lost;            ///< why none was called any more, and after which event; empty: they were
  std::vector<std::string> refused_wishes;    ///< of callbacks
  fault aborted;
  std::string stuck;                     ///< what each actor held when the run made no progress
  std::string leftovers;                 ///< empty if everything was freed
};

}  // namespace hydra
