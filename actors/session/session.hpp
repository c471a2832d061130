#pragma once
// The public facade: devices + models + policy -> run -> report.

#include "actors/protocol/events.hpp"
#include "actors/protocol/model_description.hpp"
#include "actors/policy/policy.hpp"
#include "actors/report/report.hpp"
#include "actors/run/session_options.hpp"
#include "actors/simulation/forecast.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/device/cpu/cpu_device.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/device_request.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct policy_actor_source;

/// A workload under construction, then its run. Not thread-safe, but for interrupt() and, while run() is under way,
/// add_model(); run() once.
class session {
 public:
  /// Throws fault_error{bad_input} for options that are out of range.
  explicit session(session_options options = {});
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// `count` virtual devices.
  void add_devices(int count, const cpu_device& options);
  /// `count` devices of a kind that a plug-in offers: one that is loaded, or Hydra's own, which is loaded now ("cuda").
  /// `options` by name, each of its option's type: {"index", 1}, {"memory", "24GiB"}, {"tf32", true} of "cuda".
  /// Throws fault_error{bad_input}: no such kind or option, with the nearest; a value of another type; a
  /// required option that is missing; why the kind cannot be used here. `where` they were described ("w.toml:5: device")
  /// stands in front of what goes wrong when they are made.
  void add_devices(int count, const std::string& kind, std::map<std::string, device_value> options = {},
                   const std::string& where = {});
  /// Any device. It is created, with its threads, by plan() for the pilot pass and again by run().
  using device_factory = std::function<std::unique_ptr<device>(const std::string& name)>;
  void add_device(std::string kind, device_factory factory);

  /// A policy by name: built in, of a plug-in that is loaded, or "path/libx.so", or "path/libx.so:name" where it offers
  /// several. `options` by name; the others have their standard values. Throws fault_error{bad_input} naming the nearest
  /// policy or option, or what is wrong with the plug-in.
  void use_policy(const std::string& which, std::map<std::string, double> options = {});
  /// An object of one's own, not null. No limit holds for its calls; one that throws is replaced.
  void use_policy(std::unique_ptr<policy> p);
  /// An actor (<hydra/policy_actor.hpp>) that is started with the run, or one that runs already, here or elsewhere.
  void use_policy(policy_actor_source source);

  /// Makes the policies and devices that a plug-in offers known by name. It is never unloaded. Throws
  /// fault_error{bad_input} naming the file.
  void load_plugin(const std::filesystem::path& file);

  /// Throws fault_error{bad_input} for impossible values, naming model and key.
  /// While run() is under way, from any thread: returns when the model has joined the run, with the results it has alone.
  /// Not in a callback, which the run may wait for: control::add is for that. Before run() it only describes the model.
  /// It keeps the run's staging room and the host budget. Throws fault_error{bad_input}, {does_not_fit}, {io} with the run
  /// untouched; {refused} if the run has ended or is being halted.
  model_id add_model(model_description model);

  /// Subscribes a callback; Event is step_completed or evaluation_completed. Called on a thread of its own, one event at a time.
  template <class Event>
  void on(std::function<void(const Event&, control&)> callback) {
    subscribe(std::move(callback));
  }

  /// Opens the data, runs the pilot, cuts every model and checks all budgets: no host memory is taken and no actor
  /// started yet.
  /// Throws fault_error{bad_input} or {does_not_fit}. Called by run() if not before.
  const workload_plan& plan();

  /// The devices that plan() has planned for.
  const std::vector<device_info>& devices();

  /// True if a run that is resumed was complete: every model has a checkpoint of its end. run() would train nothing.
  bool complete();

  /// What the plan is expected to take: the actors of the run in virtual time, with the pilot's times. A policy given as
  /// an object, or an actor, is stood in for by the one chosen by name before, or the default. Before run().
  forecast predict();

  /// The same of each of these policies: one pilot and one measurement of the links for all.
  std::vector<forecast> predict(std::vector<std::unique_ptr<policy>> policies);

  /// Trains everything. Throws before anything has started (bad_input, does_not_fit); afterwards faults are in the
  /// report, per model.
  report run();

  /// From any thread, at any time: the units that compute now are completed, every model is saved, run() returns; its
  /// report says `interrupted`. Before run(): as soon as it is called. A second call: run() returns without saving.
  void interrupt();

  /// Final parameter values of a model after run(), by full name (copies; replicas included). Throws fault_error{refused} if
  /// they were not kept (session_options::keep_parameters).
  std::vector<std::pair<std::string, std::vector<float>>> parameters(model_id model) const;

 private:
  void subscribe(step_callback callback);
  void subscribe(evaluation_callback callback);
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
