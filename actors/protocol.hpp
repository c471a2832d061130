#pragma once
// Every message and every typed interface of Hydra. Read this file and you know the system.
//
// A training step is a chain of shard units; a unit fires when its shard, its inputs and the compute queue are there;
// actors carry the tokens. The life of a unit:
//
//  1 unit_ready       MODEL TASK -> SCHEDULER      "my next unit may be staged": by any device, or (`after`) only by the
//                                                  one that holds its predecessor
//  2 device_freed     DEVICE -> SCHEDULER          at each START of a unit: the staging slot is empty again (one credit; so
//                                                  it is when a staged unit fails); without credit when it falls idle
//    choose           inside SCHEDULER             the policy is asked for every device with credit. A policy actor is
//                                                  asked by message: advice_wanted SCHEDULER -> POLICY ACTOR,
//                                                  policy_advised POLICY ACTOR -> SCHEDULER (actors/protocol/advice.hpp)
//  3 prefetch_shard   SCHEDULER -> DEVICE          stage this unit;  unit_placed SCHEDULER -> MODEL TASK: it is staged there
//  4 execute_shard    MODEL TASK -> DEVICE         the dataflow token, sent at once: the unit names its inputs, which
//                                                  need not exist yet. 3 and 4 have different senders: either may be first
//  5 lease_shard      DEVICE -> MEMORY MANAGER     bytes to read from home, room to land  -> shard_leased | lease_refused;
//                                                  lease_returned as soon as the h2d copies have read the bytes
//                     (DEVICE copies, computes by ticket behind the running unit, copies out)
//  6 shard_demoted    DEVICE -> MEMORY MANAGER     everything the unit produced has landed, or shard_failed
//  7 shard_completed  MEMORY MANAGER -> MODEL TASK and SCHEDULER: the only judge of completion.
//                     shard_failed takes the road of a loss: MEMORY MANAGER -> SCHEDULER -> unit_lost -> MODEL TASK, which
//                     announces the next attempt, elsewhere (`avoid`) if an operation has thrown
//    step_shard       MEMORY MANAGER -> OPTIMIZER -> shard_stepped. Not of a shard that its device steps: that unit has brought
//                     home the next version instead of gradients, and the first unit of the next step may be behind it
//                     on the device already (partition/execute/device_step.hpp)
//  8 shard_updated    MEMORY MANAGER -> MODEL TASK the next version of the shard is at home. That of shard 0 opens the
//                                                  next step, unless it is open already (7)
//  9 device_lost      SUPERVISOR -> REPORTER, MEMORY MANAGER (fences the device) -> SCHEDULER;  unit_lost SCHEDULER -> MODEL TASK;
//                     withdraw_unit SCHEDULER -> DEVICE for later units of the same models on living devices.
//                     A device that is silent or throws whatever it is given: device_given_up SCHEDULER -> SUPERVISOR,
//                     which then ends its DEVICE and takes the same road
// 10 capture_model    MODEL TASK -> MEMORY MANAGER  between two steps, at its end, or when the run is halted;
//    hold_updates     MEMORY MANAGER -> OPTIMIZER -> updates_held: none of its jobs of the model runs or starts;
//    model_captured   MEMORY MANAGER -> MODEL TASK  behind every completion that it has told: memory and cursor agree;
//    save_model       MODEL TASK -> CHECKPOINTER    writes the buffers where they are, the shard first that is stepped first;
//    shard_saved      CHECKPOINTER -> OPTIMIZER     it may be stepped again;
//    model_saved      CHECKPOINTER -> OPTIMIZER, MEMORY MANAGER, REPORTER, MODEL TASK. The best evaluation's model is saved
//                                                  the same way, before its next step
// 11 add_model        CONTROLLER, or a session's thread -> SUPERVISOR, while the run is under way: the only judge of who joins;
//    prepare_model    SUPERVISOR -> RECRUITER      beside the run: data, pilot, cuts, memory;
//    model_prepared   RECRUITER -> SUPERVISOR      which spawns its MODEL TASK, or refuses. The run does not end in between;
//    register_model   SUPERVISOR -> MEMORY MANAGER and model_joined -> DATA, REPORTER, before begin_run -> MODEL TASK
// 12 model_drained    SCHEDULER -> SUPERVISOR      a model that has left has no unit on any device. Once it has also ended,
//                                                  which is behind its last checkpoint, and while others go on:
//    release_model    SUPERVISOR -> MEMORY MANAGER its memory is to be given back;
//    release_updates  MEMORY MANAGER -> OPTIMIZER -> updates_released: none of its jobs runs or will run;
//    model_released   MEMORY MANAGER -> SUPERVISOR, REPORTER: nothing of it is at home any more; SUPERVISOR -> DEVICES, DATA:
//                                                  nor shall you have any of it; its MODEL TASK is ended (shut_down)
//
// Around it: model_added / model_left (MODEL TASK -> SCHEDULER), register_model (-> MEMORY MANAGER; resume_updates ->
// OPTIMIZER where a saved step is taken up in the middle), batch_wanted (MODEL TASK -> DATA, ahead of need) and
// batch_ready (DATA -> MEMORY MANAGER -> MODEL TASK), step_completed (MODEL TASK ->
// CONTROLLER -> step_acknowledged, and -> REPORTER), evaluation_completed in the same way. Evaluation units take
// the same way, between the last unit of a step and the first of the next. A CONTROLLER that dies, throws
// (controller_failed -> SUPERVISOR) or stays in a callback (callback_began, callback_ended -> SUPERVISOR) is done without:
// controller_lost SUPERVISOR -> MODEL TASK and REPORTER. SUPERVISOR and REPORTER watch each other: the end of either ends
// the run. Everything is one-way; tickets and unit names tie answers to questions. An imperative name is a command, a past participle an event.

#include "actors/protocol/advice.hpp"
#include "actors/protocol/caf_version.hpp"
#include "actors/protocol/events.hpp"
#include "actors/protocol/model_entry.hpp"
#include "actors/protocol/visit_times.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/graph/dataflow.hpp"
#include "partition/checkpoint/model_history.hpp"
#include "partition/execute/model_update.hpp"
#include "partition/execute/sharded_model.hpp"
#include "partition/execute/visit.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/memory/host_arena.hpp"
#include "runtime/device/ticket.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

// -- messages -----------------------------------------------------------------------------------------------------------

struct device_added;
struct prefetch_shard;
struct execute_shard;
struct withdraw_unit;
struct lease_shard;
struct shard_leased;
struct lease_refused;
struct lease_returned;
struct operation_completed;
struct shard_demoted;
struct shard_failed;
struct shard_completed;
struct step_shard;
struct shard_stepped;
struct shard_updated;
struct device_lost;
struct device_given_up;
struct device_freed;
struct device_retired;
struct scheduler_retired;
struct memory_retired;
struct model_added;
struct model_arrived;
struct model_left;
struct model_ended;
struct model_drained;
struct release_model;
struct release_updates;
struct updates_released;
struct model_released;
struct register_model;
struct unit_ready;
struct unit_placed;
struct unit_lost;
struct batch_wanted;
struct batch_ready;
struct resume_updates;
struct capture_model;
struct hold_updates;
struct updates_held;
struct model_captured;
struct save_model;
struct shard_saved;
struct model_saved;
struct checkpoint_due;
struct step_observed;
struct step_acknowledged;
struct evaluation_observed;
struct evaluation_acknowledged;
struct callback_began;
struct callback_ended;
struct controller_failed;
struct controller_lost;
struct add_model;
struct prepare_model;
struct model_prepared;
struct model_joined;
struct model_refused;
struct begin_run;
struct crew_assembled;
struct interrupt_run;
struct run_aborted;
struct run_stalled;
struct tell_state;
struct state_told;
struct check_progress;
struct check_devices;
struct check_controller;
struct check_policy;
struct shut_down;

// -- interfaces ---------------------------------------------------------------------------------------------------------

/// DEVICE: slots, block cache, operations of one device.
using device_actor = caf::typed_actor<
    caf::reacts_to<begin_run>, caf::reacts_to<prefetch_shard>, caf::reacts_to<execute_shard>,
    caf::reacts_to<withdraw_unit>, caf::reacts_to<shard_leased>, caf::reacts_to<lease_refused>,
    caf::reacts_to<operation_completed>, caf::reacts_to<model_released>, caf::reacts_to<tell_state>, caf::reacts_to<shut_down>>;

/// MODEL TASK: cursor and history of one model; announces its units.
using task_actor = caf::typed_actor<
    caf::reacts_to<begin_run>, caf::reacts_to<model_arrived>, caf::reacts_to<unit_placed>, caf::reacts_to<unit_lost>,
    caf::reacts_to<shard_completed>, caf::reacts_to<shard_updated>, caf::reacts_to<batch_ready>, caf::reacts_to<step_acknowledged>,
    caf::reacts_to<evaluation_acknowledged>, caf::reacts_to<controller_lost>, caf::reacts_to<checkpoint_due>,
    caf::reacts_to<model_captured>, caf::reacts_to<model_saved>, caf::reacts_to<run_aborted>,
    caf::reacts_to<tell_state>, caf::reacts_to<shut_down>>;

/// MEMORY MANAGER: homes of blocks, leases, versions; the only judge of completion.
using memory_actor = caf::typed_actor<
    caf::reacts_to<device_added>, caf::reacts_to<register_model>, caf::reacts_to<lease_shard>,
    caf::reacts_to<lease_returned>, caf::reacts_to<shard_demoted>, caf::reacts_to<shard_failed>,
    caf::reacts_to<shard_stepped>, caf::reacts_to<batch_ready>, caf::reacts_to<device_lost>,
    caf::reacts_to<capture_model>, caf::reacts_to<updates_held>, caf::reacts_to<model_saved>,
    caf::reacts_to<release_model>, caf::reacts_to<updates_released>,
    caf::reacts_to<tell_state>, caf::reacts_to<shut_down>>;

/// OPTIMIZER: update jobs on the host.
using optimizer_actor = caf::typed_actor<
    caf::reacts_to<step_shard>, caf::reacts_to<resume_updates>, caf::reacts_to<operation_completed>,
    caf::reacts_to<hold_updates>, caf::reacts_to<shard_saved>, caf::reacts_to<model_saved>,
    caf::reacts_to<release_updates>, caf::reacts_to<tell_state>, caf::reacts_to<shut_down>>;

/// SCHEDULER: ready units, credits, flights, and the policy object.
using scheduler_actor = caf::typed_actor<
    caf::reacts_to<device_added>, caf::reacts_to<model_added>, caf::reacts_to<model_left>, caf::reacts_to<unit_ready>,
    caf::reacts_to<device_freed>, caf::reacts_to<shard_completed>, caf::reacts_to<shard_failed>,
    caf::reacts_to<device_lost>, caf::reacts_to<policy_advised>, caf::reacts_to<check_policy>,
    caf::reacts_to<check_devices>, caf::reacts_to<tell_state>, caf::reacts_to<shut_down>>;

/// DATA: reads batches, off the cooperative threads.
using data_actor = caf::typed_actor<caf::reacts_to<batch_wanted>, caf::reacts_to<model_joined>,
                                    caf::reacts_to<model_released>, caf::reacts_to<shut_down>>;

/// CHECKPOINTER: writes models to where they survive, one after the other, off the cooperative threads.
using checkpoint_actor = caf::typed_actor<caf::reacts_to<save_model>, caf::reacts_to<shut_down>>;

/// RECRUITER: makes models ready to join the run, off the cooperative threads.
using recruiter_actor = caf::typed_actor<caf::reacts_to<prepare_model>, caf::reacts_to<shut_down>>;

/// CONTROLLER: the user's callbacks; every observed step and evaluation is acknowledged.
using controller_actor = caf::typed_actor<caf::reacts_to<step_observed>, caf::reacts_to<evaluation_observed>, caf::reacts_to<shut_down>>;

/// REPORTER: counters and curves.
using reporter_actor = caf::typed_actor<
    caf::reacts_to<begin_run>, caf::reacts_to<model_joined>, caf::reacts_to<model_refused>, caf::reacts_to<step_completed>, caf::reacts_to<evaluation_completed>, caf::reacts_to<shard_completed>,
    caf::reacts_to<shard_updated>, caf::reacts_to<model_ended>, caf::reacts_to<model_released>, caf::reacts_to<device_retired>, caf::reacts_to<scheduler_retired>,
    caf::reacts_to<memory_retired>, caf::reacts_to<shard_saved>,
    caf::reacts_to<model_saved>, caf::reacts_to<controller_lost>, caf::reacts_to<device_lost>, caf::reacts_to<state_told>, caf::reacts_to<check_progress>, caf::reacts_to<shut_down>>;

/// SUPERVISOR: starts the run, watches it, lets models join, ends it: tasks -> scheduler -> devices -> optimizer, memory.
using supervisor_actor =
    caf::typed_actor<caf::reacts_to<crew_assembled>, caf::reacts_to<add_model>, caf::reacts_to<model_prepared>,
                     caf::reacts_to<model_ended>, caf::reacts_to<model_drained>, caf::reacts_to<model_released>,
                     caf::reacts_to<device_given_up>,
                     caf::reacts_to<callback_began>, caf::reacts_to<callback_ended>, caf::reacts_to<check_controller>,
                     caf::reacts_to<controller_failed>, caf::reacts_to<interrupt_run>, caf::reacts_to<run_aborted>,
                     caf::reacts_to<run_stalled>>;

// -- set-up -------------------------------------------------------------------------------------------------------------

/// The run starts: devices offer their credit, tasks announce their first unit, those of models that arrive later then.
struct begin_run {
  time_point at;                       ///< the times of the workload count from here
};

/// All actors of a run, for the SUPERVISOR; it monitors them and starts the run.
struct crew_assembled {
  std::vector<device_actor> devices;   ///< position = device id
  std::vector<task_actor> tasks;       ///< position = model id
  scheduler_actor scheduler;
  memory_actor memory;
  optimizer_actor optimizer;
  data_actor data;
  controller_actor controller;         ///< null without callbacks
  observations observed{};             ///< by it
  checkpoint_actor checkpointer;       ///< null without checkpoints
  recruiter_actor recruiter;           ///< null: no model can join
  reporter_actor reporter;
  supervisor_actor supervisor;
};

/// A device joins. `speed`, `link` and `latency` as in its device_info.
struct device_added {
  device_id device;
  double speed = 1.0;
  device_actor actor;
  byte_rate link;
  duration latency{};
};

/// A model joins the schedule.
struct model_added {
  model_id model;
  task_actor task;
  double priority = 1;
  std::optional<time_point> deadline;
};

/// A task's own clock: the model takes part from now on.
struct model_arrived {};

/// A model will announce no more units (finished, failed or stopped); its late flights are nobody's. From its MODEL TASK, or
/// from the SUPERVISOR where that has died.
struct model_left {
  model_id model;
};

/// A model's memory as it begins: its home buffers filled with version 0, or what a checkpoint had, at unit `unit` of step
/// `step`. From now on the MEMORY MANAGER alone has the buffers, as it may replace them. Local only: carries memory.
struct register_model {
  model_id model;
  sharded_model_ptr what;
  model_memory memory;
  std::uint32_t step = 0;
  std::uint32_t unit = 0;
  task_actor task;
};

// -- models that join a run ---------------------------------------------------------------------------------------------

/// `why` is none if the model has joined.
struct join_result {
  model_id model;
  task_actor task;
  fault why;
};
/// Called once, or dropped with the message if the run is over.
using join_sink = std::function<void(const join_result&)>;

struct add_model {
  model_description what;
  join_sink answer;                    ///< may be null
};

/// `released`: models whose memory has been given back.
struct prepare_model {
  model_description what;
  std::set<model_id> released;
};

/// Answers in the order asked. Local only, as the next one: carries memory. The entry is none if `why` is set.
struct model_prepared {
  std::shared_ptr<model_entry> entry;
  fault why;
};

/// Before anything else is heard of the model.
struct model_joined {
  model_id model;
  model_entry entry;
};

struct model_refused {
  std::string name;
  fault why;
};

// -- scheduling ---------------------------------------------------------------------------------------------------------

/// The next unit of a model may be staged: its parameter version and its minibatch are at home.
struct unit_ready {
  unit what;
  std::optional<device_id> after;  ///< only this device, while it holds a flight of the model
  duration remaining{};            ///< wall time of the model from this unit on, at speed 1 (paper, Algorithm 2)
  duration cost{};                 ///< of this unit at speed 1
  byte_count bytes;                ///< parameters of its shard
  std::optional<device_id> avoid;  ///< an operation of it has thrown there: not this device, while another one lives
  byte_count boundary;             ///< its predecessor's output, where it has one in its step
  duration then_remaining{};       ///< `remaining` and `cost` of the unit after it, so that policies know what comes
  duration then_cost{};            ///< before it is announced; zero behind the last unit
  bool then_turn = false;          ///< the unit after it begins a step
};

/// Gives back `credits` (0 or 1), never states a level; says what computes now.
struct device_freed {
  device_id device;
  std::uint32_t credits = 0;
  std::optional<unit> running;     ///< none: the device is idle
  std::vector<block_id> cached;    ///< parameters that arrived since the last message
  std::vector<block_id> dropped;
};

/// Stage this unit.
struct prefetch_shard {
  unit what;
  time_point available{};          ///< since when it could be staged on that device
};

struct unit_placed {
  unit what;
  device_id device;
  device_actor actor;
};

/// A unit will not complete: its device is gone or it failed there. Announcements of the model must carry at least
/// `next_attempt` from now on.
struct unit_lost {
  unit what;
  std::uint32_t next_attempt = 0;
  fault why;
  device_id device;
};

/// Stop working on a unit; the device answers with shard_failed in any case. `unless_started`: one that computes or lands
/// may still complete.
struct withdraw_unit {
  unit what;
  bool unless_started = false;
};

// -- a unit on its device -----------------------------------------------------------------------------------------------

/// The dataflow token. `targets`: number of targets of the step, the loss divisor; evaluation divides later. Local only:
/// `model` holds code.
struct execute_shard {
  unit what;
  sharded_model_ptr model;
  std::size_t targets = 1;
};

/// Asks for bytes at home to read and for buffers to land in; either list may be empty.
struct lease_shard {
  ticket lease;
  device_id device;
  unit what;
  std::vector<block_id> reads;
  std::vector<block_id> lands;
};

/// Answer in the order asked. Local only: carries memory (devices on other machines will have an interface of their own).
struct shard_leased {
  ticket lease;
  std::vector<host_block_ptr> reads;
  std::vector<host_block_ptr> lands;
};

struct lease_refused {
  ticket lease;
  fault why;
};

/// The h2d copies have read the bytes.
struct lease_returned {
  ticket lease;
  device_id device;
};

/// An asynchronous operation has ended: a device's to its DEVICE, an update job's to the OPTIMIZER.
struct operation_completed {
  completion what;
};

/// All outputs of the unit have landed in the buffers of its lease.
struct shard_demoted {
  unit what;
  device_id device;
  visit_times times;
};

/// The unit has ended on its device without result; its buffers are free.
struct shard_failed {
  unit what;
  device_id device;
  fault why;
};

/// Commit: before it the unit can be lost, after it never. From the last shard's unit: `loss` of the step; of an
/// evaluation the `scores` of its micro-batches, in their order.
struct shard_completed {
  unit what;
  device_id device;
  float loss = 0;
  std::vector<evaluation_score> scores;
  visit_times times;
};

// -- optimizer ----------------------------------------------------------------------------------------------------------

/// Gradients of a shard have landed. Local only: carries memory.
struct step_shard {
  model_id model;
  shard_index shard;
  step_index step;
  sharded_model_ptr what;
  shard_home home;
  memory_actor memory;
};

/// Goes on with the updates of a step that a checkpoint has begun. Local only: carries memory.
struct resume_updates {
  model_id model;
  step_index step;
  sharded_model_ptr what;
  std::vector<shard_home> homes;
  update_progress updates;
  memory_actor memory;
};

/// The next version of a shard is complete. `grad_norm` of the whole model, if it clips.
struct shard_stepped {
  model_id model;
  shard_index shard;
  version_index version;
  std::optional<float> grad_norm;
  duration elapsed{};
  fault why;             ///< set if the update failed: the model cannot go on
};

struct shard_updated {
  model_id model;
  shard_index shard;
  version_index version;
  std::optional<float> grad_norm;
  duration elapsed{};
  fault why;
};

// -- data ---------------------------------------------------------------------------------------------------------------

/// Micro-batches of a training step, or of an evaluation after `step` steps.
struct batch_wanted {
  model_id model;
  batch_range range;
};

/// Minibatch and targets, one pair of blocks per micro-batch. Local only: carries memory (none when it reaches the task).
struct batch_ready {
  model_id model;
  batch_range range;
  std::size_t targets = 0;         ///< that count, of the whole range
  std::vector<std::pair<block_id, host_block_ptr>> blocks;
  fault why;
  data_actor reader;               ///< asked again when there is room, if there was none
};

// -- checkpoints --------------------------------------------------------------------------------------------------------

/// Asks for the model's memory as it stands; one at a time.
struct capture_model {
  model_id model;
  bool halted = false;             ///< of a model that runs on boundaries are left out where the step may begin again
};

/// Start no job of the model any more, until its shards are saved; say when none runs.
struct hold_updates {
  model_id model;
  sharded_model_ptr what;
  memory_actor memory;
};

struct updates_held {
  model_id model;
  update_progress updates;
};

/// Local only, as the next one: carries memory.
struct model_captured {
  model_id model;
  std::shared_ptr<model_memory> memory;
};

/// The memory is taken out of `memory`: when model_saved is sent, nothing holds it any more.
struct save_model {
  model_id model;
  sharded_model_ptr what;
  std::shared_ptr<model_memory> memory;
  model_standing standing;
  task_actor task;
  bool best = false;               ///< no state to go on from, but the best one so far
};

/// The shard's buffers may change again.
struct shard_saved {
  model_id model;
  shard_index shard;
};

/// The checkpoint is complete and will survive, or `why` not; either way all buffers may change again. The MEMORY MANAGER hears
/// it from the MODEL TASK where that has ended before it could have the captured memory saved.
struct model_saved {
  model_id model;
  fault why;
  duration elapsed{};
};

/// A task's own clock.
struct checkpoint_due {};

// -- progress and its end -----------------------------------------------------------------------------------------------

/// For the CONTROLLER: `what` has happened; the task waits for step_acknowledged before its next step.
struct step_observed {
  step_completed what;
  task_actor task;
};

struct step_acknowledged {
  step_index step;
  bool stop = false;
};

/// The same of an evaluation, which comes after its step has been acknowledged.
struct evaluation_observed {
  evaluation_completed what;
  task_actor task;
};

struct evaluation_acknowledged {
  std::uint32_t steps = 0;         ///< complete before the evaluation
  bool stop = false;
};

/// The CONTROLLER calls what a user gave: the SUPERVISOR watches that it comes back.
struct callback_began {
  std::string what;                ///< "step 3 of gpt-a"
};

struct callback_ended {};

/// A callback has thrown. `why`: behind which step of which model.
struct controller_failed {
  std::string why;
};

/// There is no CONTROLLER any more: nobody waits for it, later steps are not observed.
struct controller_lost {
  std::string why;
};

/// A model task is through.
struct model_ended {
  model_id model;
  std::uint32_t steps = 0;         ///< completed
  bool stopped = false;            ///< by a controller
  fault why;                       ///< none if finished
  fault unsaved;                   ///< why the last checkpoint is missing
};

// -- what an ended model held -------------------------------------------------------------------------------------------

/// A model that has left has no flight any more.
struct model_drained {
  model_id model;
};

/// `finished`: as planned, or by a controller; else its parameters are nobody's result.
struct release_model {
  model_id model;
  bool finished = false;
};

/// Local only: carries memory, of which the OPTIMIZER takes the digest if the model is `finished`.
struct release_updates {
  model_id model;
  sharded_model_ptr what;
  std::vector<host_block_ptr> parameters;   ///< of all shards
  bool finished = false;
  memory_actor memory;
};

struct updates_released {
  model_id model;
  std::string digest;              ///< of the final parameters; empty if nobody wants it
};

struct model_released {
  model_id model;
  std::string digest{};            ///< as above
};

// -- the end of a run ---------------------------------------------------------------------------------------------------

/// Counters of a device at its end.
struct device_retired {
  device_id device;
  duration busy{};
  duration exposed_transfer{};
  byte_count h2d_bytes;
  byte_count d2h_bytes;
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
  std::string leftovers;           ///< what it still held, a line each; empty at the end of a healthy run
};

struct scheduler_retired {
  std::string policy;              ///< that decided last
  std::uint64_t decisions = 0;
  duration mean{};                 ///< wall time of a decision round
  duration p99{};
  std::optional<time_point> first_placement;
  std::vector<std::string> replacements;   ///< of policies that failed or did not work, a line each
  std::uint64_t dropped_advice = 0;        ///< answers of a policy actor that named no candidate
};

/// Local only: carries memory.
struct memory_retired {
  std::string leftovers;           ///< leases and landing buffers that never came back
  std::map<model_id, std::vector<shard_home>> homes;   ///< of every model that is not released
};

/// From outside: stop as soon as the units that compute now are complete. Once more: stop now.
struct interrupt_run {};

/// The run does not go on (interrupted, no device left, an actor died, no progress): every task ends with this fault; if
/// `save`, when it has been saved.
struct run_aborted {
  fault why;
  bool save = false;
};

/// Fences a device: nothing it says counts any more.
struct device_lost {
  device_id device;
  fault why;
};

/// The SCHEDULER does without this device: it gives no sign of life, or throws whatever it is given.
struct device_given_up {
  device_id device;
  fault why;
};

/// The scheduler's own clock, while a device holds units: do all give signs of life?
struct check_devices {};

/// The scheduler's own clock, while a policy actor owes it an answer.
struct check_policy {};

/// The supervisor's own clock, while the CONTROLLER is in a callback.
struct check_controller {};

/// Nothing has happened for too long: everybody is asked what he holds, then the run is halted. If nothing happens for as
/// long again, it is not saved any more.
struct run_stalled {
  fault why;
  reporter_actor reporter;
};

struct tell_state {
  reporter_actor to;
};

/// Leases, slots, units and messages that somebody waits for, a line each; empty: nothing.
struct state_told {
  std::string who;
  std::string what;
};

/// The reporter's own clock: has anything happened since?
struct check_progress {
  std::uint64_t last_seen = 0;
};

struct shut_down {};

}  // namespace hydra

#include "actors/protocol/type_list.hpp"  // tells CAF about the messages
