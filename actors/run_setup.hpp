#pragma once
// Everything a run needs before its first actor: validated, owned by the session (or the simulation), which outlives
// all actors.

#include "actors/device_pipeline.hpp"
#include "actors/blame.hpp"
#include "actors/events.hpp"
#include "actors/policy/bounds.hpp"
#include "actors/policy/device_watch.hpp"
#include "actors/policy/policy.hpp"
#include "actors/progress.hpp"
#include "actors/report.hpp"
#include "models/batch_order.hpp"
#include "models/data_source.hpp"
#include "partition/model_update.hpp"
#include "partition/sharded_model.hpp"
#include "runtime/device.hpp"
#include "runtime/executor.hpp"
#include "runtime/host_arena.hpp"
#include "runtime/trace.hpp"

#include <spdlog/spdlog.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// Where a model's minibatches come from. `source` is null in a simulation: then batches are empty buffers.
struct model_data {
  std::shared_ptr<const data_source> source;
  batch_order order;
};

struct model_entry {
  sharded_model_ptr what;
  std::vector<shard_home> homes;
  model_data data;
};

/// Shared by all actors of a run; none of it is owned by an actor.
struct run_services {
  std::shared_ptr<spdlog::logger> log;   ///< never null
  trace* spans = nullptr;                ///< may be null
  host_arena* arena = nullptr;
  executor* update_executor = nullptr;
};

struct run_setup {
  run_services services;
  std::vector<device*> devices;
  std::vector<model_entry> models;       ///< position = model id
  std::unique_ptr<policy> chosen;
  pipeline_options pipeline;
  std::vector<step_callback> callbacks;
  progress_printer* progress = nullptr;  ///< may be null
  duration stall_limit{};                ///< zero: none
  duration callback_limit{};             ///< a step is not acknowledged for longer: no more callbacks; zero: none
  watch_limits watch{.minimum = {}};     ///< of silent devices; none unless asked for
  bool detached = true;                  ///< data and callbacks on threads of their own; false under virtual time
};

/// What the REPORTER has collected when the run is over.
struct model_outcome {
  std::uint32_t steps = 0;
  bool ended = false;
  bool stopped = false;
  fault why;
  std::vector<float> losses;
  std::vector<float> grad_norms;
  std::vector<evaluation_completed> evaluations;
  unit_times smallest;                   ///< per class, at speed 1
  std::optional<time_point> first_completion;
  std::optional<time_point> last_update;  ///< or evaluation
};

struct device_outcome {
  pipeline_counters counters;
  blame time;
  bool retired = false;                  ///< false: it was lost
};

struct run_record {
  std::vector<model_outcome> models;
  std::vector<device_outcome> devices;
  std::string policy;
  std::uint64_t decisions = 0;
  duration decision_mean{};
  duration decision_p99{};
  duration optimizer_busy{};
  int optimizer_workers = 1;
  std::optional<time_point> first_prefetch;
  std::optional<time_point> last_update; ///< or evaluation
  fault aborted;
  std::string leftovers;                 ///< empty if everything was given back
};

}  // namespace hydra
