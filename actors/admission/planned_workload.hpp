#pragma once
// The models that a session has before its run: opened, measured, cut and checked against the budgets of devices and
// host. model_joiner.hpp gives them their memory, and takes the same steps for models that join later.

#include "actors/admission/prepared_model.hpp"
#include "actors/admission/resumption.hpp"
#include "actors/protocol/model_description.hpp"
#include "actors/run/device_set.hpp"
#include "actors/run/session_options.hpp"
#include "partition/execute/sharded_model.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/interrupt_flag.hpp"
#include "runtime/base/log.hpp"
#include "runtime/device/device.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// What a workload is planned from; all of it outlives the call.
struct planning_setup {
  const session_options& options;
  const std::vector<model_description>& models;
  const std::vector<device_entry>& devices;
  const interrupt_flag& interrupts;
  std::shared_ptr<spdlog::logger> log;
  std::size_t threads = 0;               ///< that the run makes beside those of its devices
  duration patience = long_preparation;  ///< a line says what takes longer

  /// Throws fault_error{interrupted}.
  void require_uninterrupted() const;
};

struct planned_workload {
  std::vector<device_info> machines;
  std::string setting;                   ///< of the pilot
  std::vector<prepared_model> prepared;  ///< in the order of the descriptions
  workload_plan plan;
  resumption begins;                     ///< the checkpoints that models start from
  duration pilot_time{};
  known_rates device_updates;
  byte_count host_cap;

  /// For the user, each once: checkpoints passed over, and what of the models' files and data is not used.
  std::vector<std::string> notes() const;
};

/// Threads of the optimizer: those asked for, or half the cores, at least 1.
int optimizer_threads(const session_options& options);

/// For models of a session with these devices; the caller adds the setting of its pilot, its log, and what is known.
preparer_setup preparing(const session_options& options, std::span<const device_info> machines, bool gaps_are_filled);

/// A {does_not_fit} that is over when a model is left out: the one that cannot be trained alone, or needs most.
struct model_does_not_fit : fault_error {
  model_does_not_fit(const fault& why, std::size_t place) : fault_error(why), model(place) {}
  std::size_t model;                    ///< its place
  byte_count sufficient{};              ///< memory of every device with which the workload fits; 0: unknown
  std::vector<std::uint32_t> pieces{};  ///< of each model, with which it may fit; 0: it does, or no others are possible
};

/// Opens the data, measures layers on devices made for that, cuts every model and checks all budgets. No host memory is
/// taken for the run. Throws fault_error{bad_input}, {does_not_fit}, {interrupted}; model_does_not_fit.
planned_workload plan_workload(const planning_setup& setup);

/// The same models, which have been measured, with other steps in parallel (model_description::parallel) and other
/// balanced cuts; whatever else decides the plan is as before. Throws fault_error{does_not_fit}.
planned_workload plan_again(const planned_workload& measured, const planning_setup& setup);

/// Throws fault_error{does_not_fit} if a device has less memory now than the plan needs: a device of which others have
/// a part may have lost some since.
void require_planned_memory(const planned_workload& planned, const std::vector<device_info>& now);

}  // namespace hydra
