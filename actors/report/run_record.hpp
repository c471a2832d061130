#pragma once
// What the REPORTER has collected when a run is over.

#include "actors/device/device_pipeline.hpp"
#include "actors/policy/bounds.hpp"
#include "actors/protocol/model_entry.hpp"
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

/// What the REPORTER has collected when the run is over.
struct model_outcome {
  std::uint32_t steps = 0;
  bool ended = false;
  bool stopped = false;
  fault why;
  fault unsaved;
  std::string digest;                    ///< of a finished model that was released
  std::uint32_t steps_before = 0;        ///< complete before this run
  model_history history;
  unit_times smallest;                   ///< per class, at speed 1
  duration arrival{};                    ///< since the begin of the run
  std::optional<time_point> first_completion;
  std::optional<time_point> last_update;  ///< or evaluation
};

struct device_outcome {
  pipeline_counters counters;
  time_breakdown time;
  bool retired = false;                  ///< its counters are known
  bool lost = false;
};

/// A model that was to be added to a run under way.
struct refused_model {
  std::string name;
  fault why;
};

struct run_record {
  std::vector<model_outcome> models;     ///< those that have joined at the end
  std::vector<model_entry> joined;       ///< of a model that was released the data are gone and, unless parameters are kept,
                                         ///< chain and shards
  std::map<model_id, std::vector<shard_home>> homes;   ///< at the end, of models that were not released; none if the memory
                                                       ///< manager has died
  std::vector<refused_model> refused;
  std::vector<device_outcome> devices;
  std::string policy;
  std::uint64_t decisions = 0;
  duration decision_mean{};
  duration decision_p99{};
  std::vector<std::string> replacements; ///< of policies that failed or did not work, a line each
  std::uint64_t dropped_advice = 0;      ///< answers of a policy actor that named no candidate
  duration optimizer_busy{};
  int optimizer_workers = 1;
  time_point began{};                    ///< the run
  std::optional<time_point> first_prefetch;
  std::optional<time_point> last_update; ///< or evaluation
  std::optional<time_point> saved;       ///< the last model was saved, if it was to be
  checkpoint_totals checkpoints;
  std::string callbacks_lost;            ///< why, behind which step of which model; empty: they were called to the end
  fault aborted;
  std::string stuck;                     ///< what each actor held when the run made no progress
  std::string leftovers;                 ///< empty if everything was given back
};

}  // namespace hydra
