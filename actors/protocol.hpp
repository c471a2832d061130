#pragma once
// Every message between the actors of a run. This file is the overview; the headers that it includes define the
// messages of one conversation each, and interfaces.hpp what each actor receives. Between the nodes of a cluster:
// protocol/cluster.hpp, protocol/exchange.hpp.
//
// A training step is a chain of shard units, a lane; or several lanes at the same time, if it is divided into replicas
// and these into waves (runtime/base/step_shape.hpp). Lanes of a replica are joined by its gradient sums: a backward
// unit also reads what the same visit of the wave before has written. A unit runs when its shard and its inputs are on
// the device and the compute queue reaches it. The life of a unit:
//
//  1 unit_ready       MODEL TASK -> SCHEDULER      The next unit of a lane may be staged: by any device, or (`after`)
//                                                  only by the device on which its predecessors still are.
//  2 device_freed     DEVICE -> SCHEDULER          A staging slot is free: one credit for each slot when the run
//                                                  begins, then one when a unit starts (without double_buffer: when it
//                                                  has computed) or a staged unit fails. Without credit when the device
//                                                  becomes idle.
//    choose           inside SCHEDULER             The policy is asked for every device with credit. A policy actor is
//                                                  asked by message: advice_wanted SCHEDULER -> POLICY ACTOR,
//                                                  policy_advised POLICY ACTOR -> SCHEDULER (protocol/advice.hpp).
//  3 prefetch_shard   SCHEDULER -> DEVICE          Stage this unit. unit_placed SCHEDULER -> MODEL TASK: where it is.
//  4 execute_shard    MODEL TASK -> DEVICE         The dataflow token, sent at once: the unit names its inputs, which
//                                                  need not exist yet. 3 and 4 may arrive in either order.
//  5 lease_shard      DEVICE -> MEMORY MANAGER     Asks for host buffers to read and for host buffers for the outputs
//                                                  -> shard_leased | lease_refused, which ends the visit
//                                                  (shard_failed); lease_returned as soon as the h2d copies have read
//                     the buffers. A lease whose outputs do not fit into host memory waits for its turn. That cannot
//                     deadlock: it holds nothing, leases that only read never wait, so a unit that has its outputs
//                     completes without another byte and frees what it consumed; and the plan admits only models whose
//                     outputs fit (partition/plan/host_demand.cpp).
//                     The DEVICE copies in, computes after the running unit (by ticket) and copies out.
//  6 shard_demoted    DEVICE -> MEMORY MANAGER     All outputs of the unit are written back; or shard_failed.
//  7 shard_completed  MEMORY MANAGER -> MODEL TASK and SCHEDULER. Only the MEMORY MANAGER decides what is complete.
//                     A shard_failed is handled as a lost unit: MEMORY MANAGER -> SCHEDULER -> unit_lost -> MODEL TASK,
//                     which announces the next attempt, on another device (`avoid`) if an operation has thrown.
//    step_shard       MEMORY MANAGER -> OPTIMIZER -> shard_stepped, when the gradient sums of all replicas of a shard
//                     are in host memory. Not for a shard that its device steps: that unit
//                     has written back the next version instead of gradients, and the first unit of the next step may
//                     already be staged behind it on the device (partition/execute/device_step.hpp).
//    values_exchanged other nodes -> MEMORY MANAGER If they compute other replicas of the step
//                     (protocol/step_partners.hpp): before step_shard, the sums of a shard of all replicas; before the
//                     first one the losses: losses_gathered MEMORY MANAGER -> MODEL TASK.
//  8 shard_updated    MEMORY MANAGER -> MODEL TASK The next version of the shard is in host memory. The next step
//                                                  starts with that of shard 0 (or before, 7), when its batch is there
//                                                  (batch_ready), callbacks have returned from the step before
//                                                  (step_acknowledged) and from its evaluation
//                                                  (evaluation_acknowledged).
//  9 device_lost      SUPERVISOR -> REPORTER, MEMORY MANAGER (which fences the device) -> SCHEDULER; then unit_lost
//                     SCHEDULER -> MODEL TASK, and withdraw_unit SCHEDULER -> DEVICE for units on other devices that
//                     follow them, in the same lanes or in later waves. For a device that does not respond, or where
//                     units throw that others complete: device_given_up SCHEDULER -> SUPERVISOR, which ends its DEVICE;
//                     the rest is the same.
// 10 capture_model    MODEL TASK -> MEMORY MANAGER Between two steps, at the model's end, or when the run is halted;
//    hold_updates     MEMORY MANAGER -> OPTIMIZER -> updates_held: no job of the model runs or starts;
//    model_captured   MEMORY MANAGER -> MODEL TASK after all completions sent before: memory and cursor agree;
//    save_model       MODEL TASK -> CHECKPOINTER   writes the buffers in place, in the order in which they are stepped;
//    shard_saved      CHECKPOINTER -> OPTIMIZER    the shard may be stepped again;
//    model_saved      CHECKPOINTER -> OPTIMIZER, MEMORY MANAGER, REPORTER, MODEL TASK. The state of the best evaluation
//                     is saved in the same way, before the next step.
// 11 add_model        CONTROLLER, or a session's thread -> SUPERVISOR, which alone decides, during the run, who joins;
//    prepare_model    SUPERVISOR -> ADMISSION      in parallel with the run: data, pilot, cuts, memory;
//    model_prepared   ADMISSION -> SUPERVISOR      which spawns its MODEL TASK, or refuses. The run waits for this;
//    register_model   SUPERVISOR -> MEMORY MANAGER and model_admitted -> DATA, REPORTER, before begin_run -> MODEL
//                     TASK. Models for which there is no memory at the start wait for it in the same way; so does a
//                     model that joins, until others have given back enough.
// 12 model_drained    SCHEDULER -> SUPERVISOR and MODEL TASK. A model that has left has no unit on any device. When it
//                                                  has also ended (after its last checkpoint) and the run continues:
//    release_model    SUPERVISOR -> MEMORY MANAGER free its memory;
//    release_updates  MEMORY MANAGER -> OPTIMIZER -> updates_released: none of its jobs runs or will run;
//    model_released   MEMORY MANAGER -> SUPERVISOR, REPORTER: its host memory is free. SUPERVISOR -> DEVICES, DATA:
//                     drop what is held of it. Its MODEL TASK is ended (shut_down).
// 13 steer_model      CONTROLLER, or a session's thread -> SUPERVISOR: stop, save, pause or resume a model;
//    stop_model       SUPERVISOR -> MODEL TASK     it ends with the step that has begun;
//    keep_model       SUPERVISOR -> MODEL TASK     it is saved between two steps (10) -> model_kept, and continues;
//    pause_model      SUPERVISOR -> MODEL TASK     it leaves the schedule, is captured and saved (10), ends as paused,
//                     and its memory is released (12); pause_failed MODEL TASK -> SUPERVISOR if it could not be saved:
//                     it has joined the schedule again. A model that is resumed is prepared from its checkpoint, as
//                     one that joins (11), and keeps its id.
// 14 trial_held       CONTROLLER -> SUPERVISOR      A trial of a search has been evaluated and waits, unacknowledged,
//                     until the search has decided: it is paused (13) if another model needs its memory;
//    trial_decided    CONTROLLER -> SUPERVISOR      it goes on or stops; if it was paused, it is resumed or ends as
//                     it is.
//    trial_copied     A session's thread -> SUPERVISOR -> CONTROLLER  a copy of a good trial has joined (11) in the
//                     place of a bad one; the good one has waited for that, saved where it is.
//    trial_left       SUPERVISOR -> CONTROLLER      it has failed or was stopped: others do not wait for it.
//    record_again     CONTROLLER -> SUPERVISOR -> CONTROLLER, after a while  decisions that could not be written are
//                     tried again; until then nothing of them is carried out.
// 15 read_status      A session's thread -> SUPERVISOR -> REPORTER: what the models and devices do now.
// 16 event_observed   SUPERVISOR -> CONTROLLER      The run has begun, a model has joined, ended, ... (events.hpp), for
//                     callbacks. These may add models, so the run does not end before
//    event_acknowledged CONTROLLER -> SUPERVISOR. No model waits for it. From other actors the SUPERVISOR learns by
//                     checkpoint_saved CHECKPOINTER, policy_replaced SCHEDULER.
// 17 actors_spawned   -> SUPERVISOR                It monitors all actors and begins the run (begin_run; device_added
//                                                  -> SCHEDULER, MEMORY MANAGER).
//    task_ended       MODEL TASK -> SUPERVISOR, REPORTER; model_refused SUPERVISOR -> REPORTER: it has no task.
//    interrupt_run    From outside; run_stalled from the REPORTER, which has seen no progress: the SUPERVISOR halts the
//                     run by run_aborted -> MODEL TASK. When stalled, it asks all by report_state first: state_reported
//                     -> REPORTER.
//    shut_down        SUPERVISOR -> all, when all tasks have ended; their counters and what they still hold:
//                     device_retired, scheduler_retired, memory_retired -> REPORTER.
//
// Also: model_added / model_left (MODEL TASK -> SCHEDULER), register_model (-> MEMORY MANAGER; resume_updates ->
// OPTIMIZER where a run resumes in the middle of a step), batch_wanted (MODEL TASK -> DATA, ahead of need) and
// batch_ready (DATA -> MEMORY MANAGER -> MODEL TASK), step_observed (MODEL TASK -> CONTROLLER -> step_acknowledged; to
// the REPORTER as step_completed), evaluation_observed and evaluation_completed in the same way. Evaluation units are
// executed like the others, between the last unit of a step and the first of the next. A callback that throws is not
// called any more: callback_failed CONTROLLER -> SUPERVISOR -> REPORTER. If the CONTROLLER dies, fails itself
// (controller_failed -> SUPERVISOR) or hangs in a callback (callback_began, callback_ended -> SUPERVISOR), the run
// continues without it: controller_lost SUPERVISOR -> MODEL TASK and REPORTER. What a callback asks of a model that is
// not there is a wish_refused SUPERVISOR -> REPORTER. SUPERVISOR and REPORTER monitor each other: the end of either
// ends the run.
// operation_completed: what a device or an update job has done -> DEVICE, OPTIMIZER. Timers, sent to oneself:
// model_arrived and checkpoint_due (MODEL TASK), check_devices and check_policy (SCHEDULER), check_controller
// (SUPERVISOR), check_progress (REPORTER).
// All messages are one-way; tickets and unit names match responses to requests. A name in the imperative is a command,
// a past participle an event.

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
