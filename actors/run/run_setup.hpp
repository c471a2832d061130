#pragma once
// Everything a run needs before its first actor: validated, owned by the session (or the simulation), which outlives
// all actors.

#include "actors/device/device_pipeline.hpp"
#include "actors/plugin/policy_actor_setup.hpp"
#include "actors/policy/device_watch.hpp"
#include "actors/policy/policy.hpp"
#include "actors/protocol/events.hpp"
#include "actors/protocol/model_entry.hpp"
#include "actors/protocol/run_services.hpp"
#include "actors/report/expense_terms.hpp"
#include "actors/run/supervisor.hpp"
#include "actors/run/trial_gate.hpp"
#include "actors/schedule/scheduler.hpp"
#include "runtime/base/bytes.hpp"

#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace hydra {

class device;
class expense_file;
class host_energy;
class progress_printer;
class run_metrics;

struct run_setup {
  run_services services;
  std::vector<device*> devices;
  std::vector<model_entry> models;       ///< position = model id
  std::set<model_id> waiting;            ///< of these, those that wait for memory: theirs is empty
  bool begin_paused = false;             ///< these are paused until they are resumed
  std::vector<model_description> descriptions;  ///< from which `models` can be prepared again; empty if none has to be
  std::unique_ptr<policy> chosen;
  policy_actor_setup advice;
  policy_maker stand_in;                 ///< null: plain sharded-lrtf
  bool built_in = false;                 ///< `chosen` is Hydra's own
  pipeline_options pipeline;
  run_callbacks callbacks;
  search_setup search{};
  model_maker make_model;                   ///< null: no model can join
  std::function<void()> halted;          ///< called when the run is being halted; must not block; may be null
  host_energy* host = nullptr;           ///< null: its energy is not measured
  run_terms terms{};
  expense_file* expenses = nullptr;      ///< may be null
  progress_printer* progress = nullptr;  ///< may be null
  run_metrics* metrics = nullptr;        ///< may be null
  checkpoint_setup checkpoints;
  duration stall_limit{};                ///< zero: no limit
  duration callback_limit{};  ///< no more callbacks after one that takes longer; zero: no limit. The same for
                              ///< how long decisions of a search may be impossible to record
  watch_limits watch{.minimum = {}};     ///< of devices that do not respond; off by default
  bool detached = true;                  ///< data and callbacks on threads of their own; false under virtual time
};

}  // namespace hydra
