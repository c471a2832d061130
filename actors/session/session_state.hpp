#pragma once
// What a session holds. session_plan.cpp makes its plan; session.cpp has the rest. Internal to this folder.

#include "actors/admission/model_joiner.hpp"
#include "actors/admission/parallel_choices.hpp"
#include "actors/admission/planned_workload.hpp"
#include "actors/admission/prediction.hpp"
#include "actors/admission/rehearsal.hpp"
#include "actors/plugin/known_plugins.hpp"
#include "actors/report/run_files.hpp"
#include "actors/run/device_set.hpp"
#include "actors/run/execute.hpp"
#include "actors/run/run_requests.hpp"
#include "actors/run/search_setup.hpp"
#include "actors/session/device_registry.hpp"
#include "actors/session/policy_choice.hpp"
#include "actors/session/session.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/interrupt_flag.hpp"
#include "runtime/base/presence.hpp"
#include "runtime/device/loop_threads.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hydra {

/// The devices of a run with a goal.
struct devices_by_goal {
  device_choices compared;
  std::vector<std::string> all{};   ///< names of those that were added
  std::vector<std::size_t> used{};  ///< places of those that are used
};

/// With the pieces of layers in turn, or side by side.
struct planned_pieces {
  std::vector<model_description> descriptions;
  std::optional<planned_workload> planned;
  std::vector<model_description> described;
};

struct session::state {
  explicit state(session_options o)
      : options(std::move(o)),
        log(make_logger(options.log)),
        chosen(options, plugins),
        kinds(plugins),
        files(options.output, log) {}

  session_options options;
  std::shared_ptr<spdlog::logger> log;
  loop_threads loops{optimizer_threads(options)};
  std::shared_ptr<plugin_set> plugins = make_plugin_set();
  policy_choice chosen;
  device_registry kinds;
  std::vector<device_entry> device_entries;
  std::vector<model_description> descriptions;
  run_callbacks callbacks;
  metrics_sink watcher;                             ///< of metrics.jsonl; may be null
  search_setup search;
  std::vector<search_record> recorded;              ///< what the search had decided before
  std::vector<search_record> unrecorded;            ///< of results of before that have no record; made by plan()
  interrupt_flag interrupts;
  request_line requests;
  presence running;                                 ///< of run()

  std::optional<planned_workload> planned;          ///< made by plan()
  std::vector<left_out_model> left_out;             ///< by that
  std::vector<byte_rate> link_rates;                ///< of the devices, for forecasts; empty: not measured yet
  std::optional<rehearsal> rehearsed;
  std::vector<model_description> described;         ///< as planned, with the steps in parallel that are left to it
  std::optional<planned_pieces> other_pieces;       ///< the slower way, if the planner could choose
  std::optional<devices_by_goal> by_goal;           ///< made by plan(), when the run begins
  std::vector<std::string> note_on_devices;

  // set by run()
  std::unique_ptr<device_set> devices;
  std::unique_ptr<host_arena> arena;
  std::vector<model_entry> models;
  std::unique_ptr<checkpoint_folder> checkpoints;   ///< null: nothing is saved
  std::unique_ptr<model_joiner> joiner;
  kept_parameters kept;
  run_files files;
  bool has_run = false;

  /// Calls `change` unless run() has begun: it would have no effect then. `what`: "session::on: callbacks are".
  void set(const char* what, const std::function<void()>& change);
  void add_devices(int count, const device_entry& entry);
  model_id add(model_description model);
  void require_unplanned(const std::string& what) const;
  device_set make_devices() const { return device_set(device_entries, log, options.stop_limit); }
  planning_setup planning() const {
    return {.options = options, .models = descriptions, .devices = device_entries, .interrupts = interrupts, .log = log,
            .threads = threads_of_run()};
  }
  planned_workload& plan();
  void plan_on_chosen_devices();
  void make_plan();
  void plan_all();
  bool set_side_by_side(bool beside);
  bool fits_side_by_side();
  bool divide_layers(const model_does_not_fit& e);
  model_does_not_fit explained(const model_does_not_fit& e);
  void choose_side_by_side();
  void exchange_pieces();
  void take_faster_pieces(const std::function<void()>& plan);
  std::optional<duration> simulated_time(const std::function<void()>& plan);
  void leave_out(const model_does_not_fit& e);
  void decide_missing_results();
  void end_stopped_trials();
  void choose_devices();
  device_choices compare_devices();
  device_choices compare_devices_as_planned();
  void plan_on_kept_devices();
  void keep_devices(const std::vector<std::size_t>& members);
  bool keep_recorded_devices();
  void plan_undivided();
  std::vector<model_description> open_in(std::vector<model_description> given) const;
  void choose_open_parallel();
  std::vector<device_info> measured_machines();
  run_terms terms() const;
  void divide(const parallel_choice& chosen_ways);
  void choose_staging();
  std::uint32_t most_staged_units(const planned_workload& p) const;
  /// `part`: this, or some steps of it.
  planned_run run_of(const state& part);
  planned_run whole_run();
  sharded_model_ptr cut_model(std::size_t i) const;
  void load_models();
  void open_checkpoints();
  std::size_t threads_of_run() const;
  /// Without memory at the start.
  std::set<model_id> waiting() const;
  /// How long the destructor waits for run().
  duration limit_of_end() const {
    return options.stall_limit > duration{} ? options.stall_limit : session_options{}.stall_limit;
  }
  bool saves() const { return files.wanted() && options.checkpoint.keep > 0; }
  void check_search() const;
  run_setup make_setup(trace* spans);
  void keep_models(const run_record& record);
  /// Throws unless the run has ended and had the model.
  void require_result(model_id model) const;
  void log_unlocked() const;
  void load();
  executed_run train(trace* spans, interrupt_flag& stops);
  report report_of(const executed_run& run, duration load, const trace* spans);
};

}  // namespace hydra
