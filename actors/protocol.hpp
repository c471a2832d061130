#pragma once
// What the actors say to each other: a story for each conversation, with every message where it is sent, told as
//     message: SENDER -> RECEIVER -> who gets it from there. What it means.
// The headers that this file includes define the messages; interfaces.hpp has what each actor receives.
// tests/include_directions.py checks that each message is told once, and that its receivers are those of its interface.
//
// A message carries names, not work: a unit is one visit of a shard. What it reads, writes and follows, and how many
// bytes that is, is asked of the graph of its step, or of its round of an evaluation (runtime/base/work_graph.hpp). A
// `sharded_model` carries its graphs, and with them goes to the actors: `execute_shard` (DEVICE), `register_model`
// (MEMORY MANAGER), `model_admitted` (DATA), `model_added` (SCHEDULER, the graphs alone), `step_shard` (OPTIMIZER),
// `save_model` (CHECKPOINTER); a MODEL TASK begins with it. Only the builders in partition/graph know an order. A step
// is one lane, a chain of units, or several, which can be computed at the same time: if it is divided into replicas,
// and these into waves, or if pieces of a layer are side by side. Lanes of a replica are joined by its gradient sums: a
// backward unit also reads what the same visit of the wave before has written; lanes of pieces by the unit that reads
// what all of them have written.
//
// All messages are one-way; tickets and unit names match responses to requests. A name in the imperative is a command,
// a past participle an event. SESSION is a thread outside the actors: a session's, a device's, the program's.

// -- scheduling a unit (protocol/scheduling.hpp, protocol/advice.hpp) ------------------------------------------------
//
//  model_added: MODEL TASK -> SCHEDULER. The model joins the schedule, when it arrives or again after a pause that
//    failed. Its graphs come with it: which announcements and flights follow a unit that is lost.
//  1 unit_ready: MODEL TASK -> SCHEDULER. The next unit of a lane may be staged: by any device, or (`after`) only by
//    the device on which the units that it follows still are. One for each lane at a time; `attempt` tells it from
//    earlier ones.
//  2 device_freed: DEVICE -> SCHEDULER. Staging slots are free: credits. Those of all slots when the run begins; then
//    one when a unit starts to compute (without double_buffer: when it has computed) or a staged unit fails. Without a
//    credit when the device becomes idle; also what its cache has got and dropped.
//  advice_wanted: SCHEDULER -> POLICY ACTOR. The policy is asked for every device with a credit; one that is an actor
//    by this message.
//  policy_advised: POLICY ACTOR -> SCHEDULER. Its choice. One that is no candidate any more is dropped, and asked
//    again.
//  3 prefetch_shard: SCHEDULER -> DEVICE. Stage this unit; this takes a credit.
//  unit_placed: SCHEDULER -> MODEL TASK. The same, where it is.
//  4 execute_shard: MODEL TASK -> DEVICE. The dataflow token, the answer to unit_placed: the model, whose graph names
//    the inputs, which need not exist yet. 3 and 4 arrive in either order. From now on the unit is its DEVICE's.
//  model_left: MODEL TASK, SUPERVISOR -> SCHEDULER. No unit of the model is announced any more: it has ended, is
//    paused, or its task has died. Its staged units are withdrawn (withdraw_unit), those that compute may complete.
//  model_drained: SCHEDULER -> SUPERVISOR, MODEL TASK. No device has a unit of it any more.
//  check_policy: SCHEDULER -> SCHEDULER. Timer: a policy actor that has not answered is replaced, as a policy that
//    throws or chooses nothing while nothing else is under way.
//  policy_replaced: SCHEDULER -> SUPERVISOR. By sharded-lrtf; an event for callbacks, and in the report.

// -- a unit on its device (protocol/execution.hpp) -------------------------------------------------------------------
//
// A unit runs when its shard and its inputs are on the device and the compute queue reaches it. One computes while
// others are staged (double_buffer; one for each slot); no message passes between the end of one and the start of the
// next.
//
//  5 lease_shard: DEVICE -> MEMORY MANAGER. Asks for host buffers to read (parameters and inputs: promotion), and, when
//    one unit before it computes at most, for outputs. What a unit before it leaves on this device is not asked for.
//  shard_leased: MEMORY MANAGER -> DEVICE. The buffers. The DEVICE copies in (h2d), computes behind the running unit
//    (by ticket) and copies out (d2h).
//    WHY WAITING LEASES CANNOT DEADLOCK. A lease whose outputs do not fit into host memory is not answered until they
//    do; such leases wait in their order. A waiting lease holds nothing. A lease that only reads never waits, not even
//    behind others. So a unit that has its outputs needs no other byte of the host to complete, and its commit frees
//    what it was the last to read; then the first that waits gets its turn. And there is always room for one: a plan
//    admits only models whose outputs, partial sums and batches fit (partition/plan/host_demand.cpp). This is the only
//    place where an actor makes another wait for memory; batches that do not fit wait in the same way (batch_wanted).
//  lease_refused: MEMORY MANAGER -> DEVICE. A block is not, or no longer, at home: the visit ends, with shard_failed.
//  lease_returned: DEVICE -> MEMORY MANAGER. The h2d copies have read the buffers.
//  operation_completed: SESSION -> DEVICE, OPTIMIZER. An operation of a device, or a job of an update, has ended.
//  6 shard_demoted: DEVICE -> MEMORY MANAGER. All outputs of the unit are written back. (What a forward visit saves for
//    its backward visit stays on the device, and does not count.)
//  7 shard_completed: MEMORY MANAGER -> SCHEDULER, MODEL TASK, REPORTER. The commit: before it the unit can be lost,
//    later never. Only the MEMORY MANAGER decides this. From now on the outputs are at home, and blocks of which it was
//    the last reader are dropped; before, the unit has changed nothing there. With the last shard's losses or scores.
//  shard_failed: DEVICE -> MEMORY MANAGER -> SCHEDULER. The unit has ended without result: an operation has thrown, a
//    lease was refused, or it was withdrawn. It has read nothing. The SCHEDULER treats it as lost (unit_lost).

// -- step and update (protocol/update.hpp) ---------------------------------------------------------------------------
//
//  step_shard: MEMORY MANAGER -> OPTIMIZER. The gradient sums of all replicas of a shard are in host memory. The
//    OPTIMIZER adds them, clips (when the sums of all shards are there), updates, and copies tied parameters. Not for a
//    shard that its device steps: that unit has written back the next version instead of gradients
//    (partition/execute/device_step.hpp).
//  values_exchanged: SESSION -> MEMORY MANAGER. Other nodes that compute replicas of the same step have answered
//    (protocol/step_partners.hpp): before step_shard the sums of a shard of all replicas, before the first of them the
//    losses.
//  losses_gathered: MEMORY MANAGER -> MODEL TASK. These losses.
//  shard_stepped: OPTIMIZER -> MEMORY MANAGER. The next version of a shard is complete, with its tied copies; or the
//    update has failed, and with it the model.
//  8 shard_updated: MEMORY MANAGER -> MODEL TASK, REPORTER. That version is in host memory; also that of a shard that
//    its device has stepped.
//  resume_updates: MEMORY MANAGER -> OPTIMIZER. Of a model that resumes in the middle of a step: sums and jobs as they
//    were.
//
// What starts a step. Each unit waits for the version of its own shard, so the first unit, of shard 0, may begin while
// other shards are still updated. It is announced when all of this holds; what comes last starts the step:
//   * shard_updated: shard 0 has the version of the step. Or its writer is in flight: where devices step shard 0, and
//     none is faster than another, the unit may be staged behind the last one of the step before, on its device
//     (`after`);
//   * batch_ready: the batch of the step is in host memory. It was wanted a step ahead;
//   * step_acknowledged: callbacks for steps have returned from the step before. Without such callbacks nobody waits;
//   * the evaluation between the steps, if there is one, is not held: if callbacks or `keep_best` want it, they have
//     answered it (evaluation_acknowledged) and the best state is captured; with several lanes all its rounds are over;
//   * the model is not stopped, paused or halted. A checkpoint holds only the updates of shards that are not saved yet
//     (hold_updates).
// Later units of the step need the boundary of the unit before, which may be in flight on the same device, some the
// gradient sum of the wave before, or terms of other pieces: the graph has all of these as what the unit reads.
//
//  step_completed: MODEL TASK -> REPORTER. All backward units of the step have committed; its loss is known, and the
//    norm, if it clips.
//  evaluation_completed: MODEL TASK -> REPORTER. Of the last round. Evaluation units are executed like the others,
//    between the last unit of a step and the first of the next, dealt in rounds to the lanes.

// -- data (protocol/input.hpp) ---------------------------------------------------------------------------------------
//
//  batch_wanted: MODEL TASK, MEMORY MANAGER -> DATA. Micro-batches of a step, one step ahead, or of a round of an
//    evaluation. From the MEMORY MANAGER: again, because there was not enough host memory and some was freed since.
//  batch_ready: DATA -> MEMORY MANAGER -> MODEL TASK. Their blocks, which the MEMORY MANAGER takes; the MODEL TASK
//    learns how many targets count, by which the loss is divided. Or why they could not be read, with which the model
//    ends.

// -- checkpoint, pause, end of a model (protocol/checkpoint.hpp, steering.hpp, release.hpp) --------------------------
//
// All three are one sequence: no unit is announced, what computes completes, the memory is captured, saved, released. A
// checkpoint captures only, between two steps. A model that has failed is released without being saved.
//
//  checkpoint_due: MODEL TASK -> MODEL TASK. Timer: save at the end of the step that has begun. Others count steps.
//  9 capture_model: MODEL TASK -> MEMORY MANAGER. Between two steps, after the model's last unit, or (with boundaries)
//    where it stands when it is paused or the run is halted.
//  hold_updates: MEMORY MANAGER -> OPTIMIZER. Start no job of the model.
//  updates_held: OPTIMIZER -> MEMORY MANAGER. None runs.
//  model_captured: MEMORY MANAGER -> MODEL TASK. The memory as it is at this instant, sent after all completions
//    before: it and the position of the task agree.
//  save_model: MODEL TASK -> CHECKPOINTER. Writes the buffers in place, in the order in which they are stepped. The
//    state of the best evaluation is saved in the same way, before the next step (`best`).
//  shard_saved: CHECKPOINTER -> OPTIMIZER, REPORTER. The shard may be stepped again.
//  model_saved: CHECKPOINTER, MODEL TASK -> OPTIMIZER, MEMORY MANAGER, REPORTER, MODEL TASK. The checkpoint is
//    complete, or why not. From the MODEL TASK, to the MEMORY MANAGER: the model has ended meanwhile, and nothing is
//    saved.
//  checkpoint_saved: CHECKPOINTER -> SUPERVISOR. The same for callbacks.
//
//  steer_model: SESSION, CONTROLLER -> SUPERVISOR. Stop, save, pause, drop or resume a model.
//  stop_model: SUPERVISOR -> MODEL TASK. It ends with the step that has begun.
//  keep_model: SUPERVISOR -> MODEL TASK. Save it between two steps, and continue.
//  model_kept: MODEL TASK -> SUPERVISOR. That is done, or why not.
//  pause_model: SUPERVISOR -> MODEL TASK. It leaves the schedule (model_left, model_drained), is captured and saved,
//    ends as paused, and its memory is released. One that is resumed is prepared from its checkpoint as one that joins
//    (prepare_model), and keeps its id.
//  pause_failed: MODEL TASK -> SUPERVISOR. It could not be saved, and has joined the schedule again.
//
//  task_ended: MODEL TASK -> SUPERVISOR, REPORTER. The model has ended, after its last checkpoint, or is paused. From
//    the SUPERVISOR to the REPORTER: of a model that has no task.
//  release_model: SUPERVISOR -> MEMORY MANAGER. After task_ended and model_drained, if the run continues: free its
//    memory.
//  release_updates: MEMORY MANAGER -> OPTIMIZER. With its parameters, of which it takes the digest.
//  updates_released: OPTIMIZER -> MEMORY MANAGER. None of its jobs runs or will run.
//  model_released: MEMORY MANAGER -> SUPERVISOR, REPORTER -> DEVICE, DATA. Its host memory is free; the SUPERVISOR
//    tells DEVICES and DATA to drop what they hold of it, ends its MODEL TASK (shut_down), and lets others join
//    (prepare_model).

// -- joining (protocol/joining.hpp) ----------------------------------------------------------------------------------
//
//  add_model: SESSION, CONTROLLER -> SUPERVISOR. One more model. The SUPERVISOR alone decides, during the run, who
//    joins.
//  prepare_model: SUPERVISOR -> ADMISSION. Beside the run: open its data, pilot, cuts, graphs, memory.
//  model_prepared: ADMISSION -> SUPERVISOR. The SUPERVISOR spawns its MODEL TASK, or refuses the model, or lets it
//    wait until others have given back enough memory, as those of the workload that did not fit at the start. The run
//    does not end while one is prepared or waits.
//  register_model: SESSION, SUPERVISOR -> MEMORY MANAGER. Its memory and its graphs: from now on the MEMORY MANAGER's.
//  model_admitted: SUPERVISOR -> REPORTER, DATA. Before begin_run goes to its MODEL TASK.
//  model_refused: SUPERVISOR -> REPORTER. It has no task, and why.
//  model_arrived: MODEL TASK -> MODEL TASK. Timer: the time `arrival` of the workload has come; it joins the schedule.

// -- begin and end of a run (protocol/run.hpp, run_status.hpp) -------------------------------------------------------
//
//  device_added: SESSION -> SCHEDULER, MEMORY MANAGER. Before the run begins.
//  actors_spawned: SESSION -> SUPERVISOR. It monitors all actors from now on, and begins the run.
//  begin_run: SUPERVISOR -> DEVICE, MODEL TASK, REPORTER. Devices offer their credits, tasks announce their first
//    units.
//  read_status: SESSION -> SUPERVISOR -> REPORTER. What models and devices do now.
//  interrupt_run: SESSION -> SUPERVISOR. Stop when what computes now is complete; the second time: stop now.
//  run_aborted: SUPERVISOR, CONTROLLER, REPORTER -> SUPERVISOR -> MODEL TASK. The run is halted: every model leaves the
//    schedule, is saved where it is (if `save`), and ends. A run that is resumed continues there.
//  shut_down: SUPERVISOR -> MODEL TASK, SCHEDULER, DEVICE, OPTIMIZER, MEMORY MANAGER, DATA, CHECKPOINTER, ADMISSION,
//    CONTROLLER, REPORTER. When all tasks have ended, nobody prepares or waits and callbacks have returned; in this
//    order, the DEVICES before those whose memory they copy to.
//  device_retired: DEVICE -> REPORTER. Its counters, and what it still holds: nothing, in a healthy run. Early if it is
//    lost.
//  scheduler_retired: SCHEDULER -> REPORTER. Its counters.
//  memory_retired: MEMORY MANAGER -> REPORTER. What was not given back, and the final parameters.
//
// The end of an actor is noticed by the SUPERVISOR, which decides what it means: a device is lost, a model has failed,
// or the run is halted. SUPERVISOR and REPORTER monitor each other: the end of either ends the run.

// -- faults (protocol/scheduling.hpp, run.hpp) -----------------------------------------------------------------------
//
//  unit_lost: SCHEDULER -> MODEL TASK. A unit that was placed, or was announced to follow one, will not complete. The
//    MODEL TASK announces the next attempt, on another device (`avoid`) if an operation has thrown. The third time the
//    model fails; the second, if memory was short; at once for what would fail again; never for what is not the unit's
//    fault. A lost unit has no effect: nothing it read was dropped, nothing it wrote is at home.
//  withdraw_unit: SCHEDULER -> DEVICE. Of what follows a lost unit in the graph, in its lane or in a later wave, and is
//    on another device; of a model that has left. The DEVICE answers with shard_failed in any case.
//  check_devices: SCHEDULER -> SCHEDULER. Timer, while a device holds units: one that gives no sign of life is given
//    up.
//  device_given_up: SCHEDULER -> SUPERVISOR. That one, or one where units throw that other devices complete. The
//    SUPERVISOR ends its DEVICE.
//  device_lost: SUPERVISOR -> REPORTER, MEMORY MANAGER -> SCHEDULER. Also of a DEVICE that has ended by itself. The
//    MEMORY MANAGER fences it, what comes from it later is ignored; then the SCHEDULER undoes its units: unit_lost and
//    withdraw_unit as above. The last one halts the run.
//  check_progress: REPORTER -> REPORTER. Timer.
//  read_meters: REPORTER -> REPORTER. Timer, where energy is measured.
//  run_stalled: REPORTER -> SUPERVISOR. No actor has reported progress for too long. The SUPERVISOR halts the run,
//    unless it waits for a command, and asks everybody first:
//  report_state: SUPERVISOR -> DEVICE, MODEL TASK, MEMORY MANAGER, OPTIMIZER, SCHEDULER. For what do you wait?
//  state_reported: DEVICE, MODEL TASK, MEMORY MANAGER, OPTIMIZER, SCHEDULER -> REPORTER. For this; it is in the report.

// -- callbacks and searches (protocol/observation.hpp, events.hpp) ---------------------------------------------------
//
//  step_observed: MODEL TASK -> CONTROLLER. A step is complete; the CONTROLLER calls the callbacks for it.
//  step_acknowledged: CONTROLLER -> MODEL TASK. They have returned; the model may stop here. Its next step waits for
//    this.
//  evaluation_observed: MODEL TASK -> CONTROLLER. The same of an evaluation.
//  evaluation_acknowledged: CONTROLLER -> MODEL TASK. Of a trial of a search not before the rule has decided.
//  event_observed: SUPERVISOR -> CONTROLLER. Any other event (events.hpp). No model waits for these callbacks; but they
//    may add models, so the run does not end before
//  event_acknowledged: CONTROLLER -> SUPERVISOR. They have returned.
//  callback_began: CONTROLLER -> SUPERVISOR. It is about to call the user's code,
//  callback_ended: CONTROLLER -> SUPERVISOR. which has returned; with the models that it asks to stop.
//  check_controller: SUPERVISOR -> SUPERVISOR. Timer between the two: a callback that hangs is given up, with the
//    CONTROLLER.
//  callback_failed: CONTROLLER -> SUPERVISOR -> REPORTER. A callback, or the rule of a search, has thrown, and is not
//    called any more.
//  wish_refused: SUPERVISOR -> REPORTER. What a callback has asked of a model that is not there.
//  controller_failed: CONTROLLER -> SUPERVISOR. The actor itself fails.
//  controller_lost: SUPERVISOR -> MODEL TASK, REPORTER. There is no CONTROLLER any more: it has failed, died or hangs.
//    The run continues without it, and nobody waits for its answers.
//
//  trial_held: CONTROLLER -> SUPERVISOR. A trial has been evaluated and waits, unacknowledged, until the search has
//    decided: it is paused if another model needs its memory.
//  trial_decided: CONTROLLER -> SUPERVISOR. It goes on or stops; if it was paused, it is resumed or ends as it is.
//  trial_copied: SESSION -> SUPERVISOR -> CONTROLLER. A copy of a good trial has joined in the place of a bad one. The
//    good one has waited for that, saved where it is.
//  rule_decided: SESSION -> SUPERVISOR -> CONTROLLER. What the rule did not decide at once, because it asks elsewhere.
//  trial_left: SUPERVISOR -> CONTROLLER. A model has failed or was stopped: other trials do not wait for it.
//  record_again: CONTROLLER -> SUPERVISOR -> CONTROLLER. Timer: decisions that could not be written are tried again;
//    until then nothing of them is carried out.
//  make_room_again: SUPERVISOR -> SUPERVISOR. Timer: trials that could not be saved to give their memory to others are
//    tried again.

// -- cluster (protocol/cluster.hpp, exchange.hpp: not included here, only actors/cluster uses them) ------------------
//
// A NODE is a process with a run of its own, the COORDINATOR gives it models. What a node says of an assignment that is
// not its newest (by epoch) is dropped.
//
//  join_cluster: NODE -> COORDINATOR. Who it is, what it was built from; again when the connection was lost.
//  node_refused: COORDINATOR -> NODE. Other versions, or another node has joined under its name.
//  node_accepted: COORDINATOR -> NODE. With the workload.
//  want_input: RECEIVER -> OWNER. Offer a file or folder that the workload names, and this machine lacks.
//  input_offered: OWNER -> RECEIVER. What there is, with checksums.
//  want_chunk: RECEIVER -> OWNER. Whoever is offered files (inputs, checkpoints, reports) pulls them.
//  chunk: OWNER -> RECEIVER. A piece of a file.
//  drop_folders: RECEIVER -> OWNER. It has what it wanted, or does not want it any more.
//  node_planned: NODE -> COORDINATOR. The workload as planned for its devices; or it cannot train it.
//  offer_found: COORDINATOR -> NODE. Offer what an earlier membership in the same run has left.
//  take_model: COORDINATOR -> NODE. Train this model, alone or with a team, from the newest of these checkpoints. One
//    that was added to the run comes with its table.
//  assignment_began: NODE -> COORDINATOR. It does.
//  assignment_refused: NODE -> COORDINATOR. It cannot: no checkpoint, no memory, a member that it does not reach.
//  node_progressed: NODE -> COORDINATOR. Steps and losses of its models, what its devices do, lines of metrics.jsonl.
//  checkpoint_offered: NODE -> COORDINATOR. A model was saved, or kept, is given back, has ended, or was found.
//  give_back: COORDINATOR -> NODE. Save the model between two steps, and offer it (checkpoint_offered).
//  assignment_stays: NODE -> COORDINATOR. It could not be saved, and is trained on.
//  stop_assigned: COORDINATOR -> NODE. End the model with the step that has begun.
//  drop_assigned: COORDINATOR -> NODE. Do not train it any more, and do not save it: others of its team cannot go on.
//  keep_assigned: COORDINATOR -> NODE. Save it, offer that, and train it on: another model begins from there.
//  trial_waits: NODE -> COORDINATOR. A trial of a search was evaluated; the rule, and its record, are here.
//  trial_told: COORDINATOR -> NODE. It goes on or stops. A trial that has moved meanwhile asks again.
//  node_leaves: NODE -> COORDINATOR. Give my models to others.
//  end_node: COORDINATOR -> NODE. The run is over.
//  node_ended: NODE -> COORDINATOR. With its report.
//
// Nodes that train a model together exchange losses and gradient sums without the COORDINATOR (values_exchanged).
//  team_greeting: EXCHANGE -> EXCHANGE. To each member of a team, again and again: I am there, with that step.
//  want_values: EXCHANGE -> EXCHANGE. Whoever needs values asks for them, a piece at a time.
//  given_values: EXCHANGE -> EXCHANGE. These values.

#include "actors/protocol/checkpoint.hpp"
#include "actors/protocol/execution.hpp"
#include "actors/protocol/input.hpp"
#include "actors/protocol/interfaces.hpp"  // what each actor receives; then a header for each conversation
#include "actors/protocol/joining.hpp"
#include "actors/protocol/message_carriers.hpp"  // CAF type information of the messages
#include "actors/protocol/observation.hpp"
#include "actors/protocol/release.hpp"
#include "actors/protocol/run.hpp"
#include "actors/protocol/run_status.hpp"
#include "actors/protocol/scheduling.hpp"
#include "actors/protocol/steering.hpp"
#include "actors/protocol/update.hpp"
