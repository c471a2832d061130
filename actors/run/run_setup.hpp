#pragma once
// Everything a run needs before its first actor: validated, owned by the session (or the simulation), which outlives
// all actors.

#include "actors/device/device_pipeline.hpp"
#include "actors/report/blame.hpp"
#include "actors/protocol/events.hpp"
#include "actors/protocol/model_entry.hpp"
#include "actors/policy/bounds.hpp"
#include "actors/policy/device_watch.hpp"
#include "actors/policy/policy.hpp"
#include "actors/report/progress.hpp"
#include "actors/report/report.hpp"
#include "actors/report/run_metrics.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/checkpoint/model_history.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/executor.hpp"
#include "runtime/memory/host_arena.hpp"
#include "runtime/base/log.hpp"
#include "runtime/trace/trace.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

class kept_parameters;

/// Where models are saved, and when (besides their end and the end of a run that is halted).
struct checkpoint_setup {
  checkpoint_store* store = nullptr;     ///< null: nowhere
  std::uint32_t every_steps = 0;         ///< 0: not by steps
  duration every{};                      ///< zero: not by time
};

/// Shared by all actors of a run; none of it is owned by an actor.
struct run_services {
  std::shared_ptr<spdlog::logger> log;   ///< never null
  trace* spans = nullptr;                ///< may be null
  host_arena* arena = nullptr;
  executor* update_executor = nullptr;
  kept_parameters* kept = nullptr;       ///< null: those of ended models are not kept
};

struct policy_actor_source;
class advised_policy;

/// A policy actor, and the object in run_setup::chosen that asks it. None: both are null.
struct adviser_setup {
  std::shared_ptr<const policy_actor_source> source;
  advised_policy* asks = nullptr;
  duration limit{};                      ///< until it has answered a question
  bool apart = false;                    ///< it lives in another actor system
};

/// Makes the sharded-lrtf that takes the place of a policy that fails.
using policy_maker = std::function<std::unique_ptr<policy>()>;

struct run_setup {
  run_services services;
  std::vector<device*> devices;
  std::vector<model_entry> models;       ///< position = model id
  std::unique_ptr<policy> chosen;
  adviser_setup adviser;
  policy_maker stand_in;                 ///< null: sharded-lrtf as it is
  bool built_in = false;                 ///< `chosen` is Hydra's own
  pipeline_options pipeline;
  std::vector<step_callback> callbacks;
  std::vector<evaluation_callback> evaluation_callbacks;
  model_maker recruit;                   ///< null: no model can join
  std::function<void()> halted;          ///< told when the run is being halted; only sets something; may be null
  progress_printer* progress = nullptr;  ///< may be null
  run_metrics* metrics = nullptr;        ///< may be null
  checkpoint_setup checkpoints;
  duration stall_limit{};                ///< zero: none
  duration callback_limit{};             ///< a callback takes longer: no more callbacks; zero: none
  watch_limits watch{.minimum = {}};     ///< of silent devices; none unless asked for
  bool detached = true;                  ///< data and callbacks on threads of their own; false under virtual time
};

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
  blame time;
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
