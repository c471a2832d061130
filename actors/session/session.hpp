#pragma once
// The public facade: devices + models + policy -> run -> report.

#include "actors/admission/compared_forecasts.hpp"
#include "actors/admission/disk_room.hpp"
#include "actors/admission/model_estimate.hpp"
#include "actors/policy/policy.hpp"
#include "actors/protocol/events.hpp"
#include "actors/protocol/model_description.hpp"
#include "actors/protocol/run_status.hpp"
#include "actors/protocol/steering.hpp"
#include "actors/report/expense_terms.hpp"
#include "actors/report/report.hpp"
#include "actors/run/session_options.hpp"
#include "actors/selection/search_hooks.hpp"
#include "actors/selection/search_settings.hpp"
#include "actors/simulation/forecast.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/device/cpu/cpu_device.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/device_request.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

struct forecast_setup;
struct policy_actor_source;

/// A model that a machine cannot hold.
struct left_out_model {
  std::size_t place = 0;  ///< among all that were added
  std::string name;
  fault why;
};

/// A workload under construction, then its run. Not thread-safe, except interrupt() and, while run() is under way,
/// add_model(), queue_model(), stop(), pause(), resume(), keep(), copy_begun(), decided() and status(). run() may be
/// called once.
class session {
 public:
  /// Throws fault_error{bad_input} for options that are out of range.
  explicit session(session_options options = {});
  /// While run() is under way on another thread: as interrupt(), and waits until run() has returned. Ends the program
  /// with a sentence if that takes longer than session_options::stall_limit, as when a callback destroys the session
  /// that calls it.
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// `count` virtual devices, each of these terms.
  void add_devices(int count, const cpu_device& options, const expense_terms& terms = {});
  /// `count` devices of a kind that a plug-in offers: one that is loaded, or Hydra's own, which is loaded now ("cuda").
  /// `options` by name, each with its option's type: {"index", 1}, {"memory", "24GiB"}, {"tf32", true} of "cuda".
  /// Throws fault_error{bad_input}: there is no such kind or option (with the nearest name); a value of another type; a
  /// required option that is missing; why the kind cannot be used here. `where` ("w.toml:5: device") is the prefix of
  /// messages about devices that cannot be created.
  void add_devices(int count, const std::string& kind, const option_values& options = {},
                   const std::string& where = {}, const expense_terms& terms = {});
  /// Any device. plan() creates it, with its threads, for the pilot pass, and run() creates it again. They throw
  /// fault_error with the name of a device whose factory throws or returns null.
  using device_factory = std::function<std::unique_ptr<device>(const std::string& name)>;
  void add_device(std::string kind, device_factory factory, const expense_terms& terms = {});

  /// A policy by name: built in, of a plug-in that is loaded, or "path/libx.so", or "path/libx.so:name" where it offers
  /// several. `options` by name; the others have their default values. Throws fault_error{bad_input} naming the nearest
  /// policy or option, or what is wrong with the plug-in. Before run(), as the next two: else {refused}.
  void use_policy(const std::string& which, std::map<std::string, double> options = {});
  /// A policy object, not null. Its calls have no time limit; if one throws, the policy is replaced.
  void use_policy(std::unique_ptr<policy> p);
  /// An actor (<hydra/policy_actor.hpp>) that is started with the run, or one that is running, in this process or
  /// another.
  void use_policy(policy_actor_source source);

  /// Makes the policies and devices of a plug-in available by name. It is never unloaded. Throws
  /// fault_error{bad_input} naming the file.
  void load_plugin(const std::filesystem::path& file);

  /// Throws fault_error{bad_input} for impossible values, naming model and key.
  /// Before run() it only adds the description. While run() is under way it may be called from any thread and returns
  /// when the model has joined the run; the model has the same results as alone. Do not call it in a callback, for
  /// which the run may wait: use control::add. The model is planned within the run's staging bytes and host budget.
  /// Throws fault_error{bad_input}, {does_not_fit}, {io} without effect on the run; {refused} if the run has ended or
  /// is being halted.
  model_id add_model(model_description model);

  /// The same, only while run() is under way; returns already when the model has to wait for memory. If it is refused
  /// after that, status() and the report say so, and `refused` is called, on a thread of the run: it must return at
  /// once. What it throws is logged.
  void queue_model(model_description model, std::function<void(const fault&)> refused = {});

  /// Subscribes a callback to an event of actors/protocol/events.hpp, where the events are described; several callbacks
  /// of one event are called in the order in which they were added. All are called on one thread of the run, one event
  /// at a time, and what they capture is used until run() returns. Before run(): throws fault_error{refused} once it
  /// has begun, {bad_input} for an empty callback.
  template <class Event>
  void on(std::function<void(const Event&, control&)> callback) {
    static_assert(run_callbacks::knows<Event>,
                  "session::on<Event>: Event is one of those in actors/protocol/events.hpp");
    require_callable(static_cast<bool>(callback));
    change_callbacks([&](run_callbacks& all) { all.add<Event>(std::move(callback)); });
  }

  /// Called for each line that the run adds to metrics.jsonl, in their order, on threads of the run, which it must not
  /// keep waiting; first with those of the checkpoints that models begin from. What it throws is logged. Before run():
  /// else throws fault_error{refused}.
  void watch_metrics(metrics_sink sink);

  /// Trials of a search wait after evaluations until its rule has decided; those that wait give their memory back to
  /// models that need it. Copies (search_hooks::copy) are begun with keep(), model_description::begins and
  /// queue_model(). A session that resumes gives `earlier`, what was recorded before; results of checkpoints that it
  /// lacks are decided and recorded when it runs. Before run(): else throws fault_error{refused}; {damaged} if these
  /// are of another search, {bad_input} for one that copies trials without a hook for that.
  void use_search(const search_settings& settings, search_hooks hooks = {},
                  std::span<const search_record> earlier = {});

  /// Opens the data, runs the pilot pass, cuts every model and checks all budgets; allocates no host memory for models
  /// and starts no actor. Steps in parallel that are left to the planner (parallel_options) are then those of the plan.
  /// Throws fault_error{bad_input} or {does_not_fit}. run() calls it if it was not called before.
  const workload_plan& plan();

  /// What the user should know of the plan: checkpoints passed over, what of the models' files and data is not used.
  std::vector<std::string> notes();

  /// Models that plan() has left out, because this machine cannot hold them: where models begin paused
  /// (session_options), others may.
  const std::vector<left_out_model>& left_out();

  /// The devices for which plan() has planned.
  const std::vector<device_info>& devices();

  /// What plan() knows of each model.
  std::vector<model_estimate> estimates();

  /// What the checkpoints of the run need and find in the file system of its folder; nothing if it saves none. run()
  /// refuses {does_not_fit} where the first of each model has no room, and warns where later ones may have none.
  std::optional<disk_room> room();

  /// True if a resumed run was complete: every model has a checkpoint of its end, and the search has recorded all of
  /// its decisions. run() would train nothing.
  bool complete();

  /// The expected times of the plan: a simulation of the run in virtual time, with the times of the pilot or of a
  /// rehearsal. `by`: a policy instead of the chosen one; one chosen as an object or an actor is replaced by the one
  /// chosen by name before, or by the default. Links are measured once in a session. Before run().
  forecast predict(std::unique_ptr<policy> by = nullptr);

  /// What predict() simulates, by the times of the pilot: for the nodes of a cluster (cluster_forecast.hpp).
  forecast_setup simulated_plan();

  /// Trains the first steps of all models, without results. Later predictions are made from the times of their units
  /// instead of the pilot's, which were measured without everything else that a run does. Takes as long, and as much
  /// memory, as these steps of the run; `steps`: 2 or more. The policy is that of predict(). Throws fault_error with
  /// the fault of a model that fails. Before run().
  rehearsal_summary rehearse(std::uint32_t steps);

  /// What the workload would take on each choice of its devices. With a goal (session_options) plan() has chosen one of
  /// them, which is the only one that is left; these are those it has compared.
  device_choices compare_devices();

  /// What steps in parallel would bring: the plan as it is, then the same models with other replicas and waves that
  /// fit. One pilot pass for all, and fewer steps than predict() simulates.
  std::vector<parallel_forecast> compare_parallel();

  /// What more memory of the devices would bring, in the same way, until no forward is computed again.
  std::vector<memory_forecast> compare_memory();

  /// Trains all models. Throws before anything has started (bad_input, does_not_fit); later faults are in the report,
  /// per model.
  report run();

  /// While run() is under way, from any thread, also in a callback: the model ends with the step that has begun. Throws
  /// fault_error: {bad_input} if the run has no such model, {refused} if it has ended, or no run is under way.
  void stop(const std::string& model);
  /// The same: the model is saved where it is, and gives its host memory back; returns when that is done, and models
  /// whose callbacks come later wait meanwhile. Also throws {refused} in a run that saves nothing, or if the model ends
  /// first, {io} if it cannot be saved: then it continues. A run whose other models have ended waits, and says so on
  /// stderr, until paused models are resumed or stopped, or the run is interrupted.
  void pause(const std::string& model);
  /// The same: a paused model continues where it was, with the same results as undisturbed, when there is memory for
  /// it.
  void resume(const std::string& model);

  /// The same: saves the model between two steps, the next time that it is there, and returns the folder of that
  /// checkpoint under a name that later ones do not replace: another model may begin from it
  /// (model_description::begins). One that is not being trained has been saved already; of a paused one it is the last
  /// checkpoint between two steps. Also throws {refused} if the model has done no step.
  std::filesystem::path keep(const std::string& model);

  /// Answers search_hooks::copy, from any thread: the copy has joined the run (queue_model() has returned), or cannot.
  void copy_begun(const std::string& copy, bool joined);

  /// The same: what the rule of the search did not decide when it was told of the result, because it asks elsewhere
  /// (search_rule::result() without a decision). Not recorded by search_hooks::record, and without a copy. A trial that
  /// does not wait after these steps now gets the answer when it does.
  void decided(const trial_decision& decision);

  /// While run() is under way, from any thread, also in a callback, from run_begun on: what its models and devices do
  /// now. Cheap. Throws fault_error{refused} if no run is under way.
  run_status status();

  /// The commands above, and status(), from any thread, also in a callback: they return at once. `answer` is called
  /// once, on a thread of the run, and must return at once; what it throws is logged; destroyed uncalled if the run
  /// ends before. A stop, pause or resume is answered as above, a save when a checkpoint from between two steps is
  /// complete. `share`: of the steps of a model that is resumed, the rest is for session_options::partners.
  void steer(const std::string& model, model_command what, command_sink answer, const step_share& share = {});
  void read_status(status_sink answer);
  /// queue_model() in the same way; where models begin paused (session_options), it continues from its newest
  /// checkpoint in the run's folder. `joined`: it has, or waits for memory.
  void queue_model(model_description model, command_sink joined, command_sink refused);

  /// From any thread, at any time: the units that compute now are completed, every model is saved, run() returns; its
  /// report says `interrupted`. Called before run(), it takes effect when run() is called. After a second call run()
  /// returns without saving.
  void interrupt();

  /// Final parameter values of a model after run(), by full name (copies; tied copies included), without those that are
  /// frozen. Throws fault_error: {refused} before run() has returned, or if they were not kept
  /// (session_options::keep_parameters), {bad_input} for an id that the run did not have.
  std::vector<std::pair<std::string, std::vector<float>>> parameters(model_id model) const;

 private:
  void steer_and_wait(const std::string& model, model_command what);
  static void require_callable(bool callable);
  void change_callbacks(const std::function<void(run_callbacks&)>& change);
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
