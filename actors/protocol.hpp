#pragma once
// Every message and every typed interface of Hydra. Read this file and you know the system; the headers that it includes
// have the messages of each conversation.
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
//    prepare_model    SUPERVISOR -> ADMISSION      beside the run: data, pilot, cuts, memory;
//    model_prepared   ADMISSION -> SUPERVISOR      which spawns its MODEL TASK, or refuses. The run does not end in between;
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

#include "actors/protocol/interfaces.hpp"  // what each actor receives; then a header for each conversation
#include "actors/protocol/scheduling.hpp"
#include "actors/protocol/execution.hpp"
#include "actors/protocol/update.hpp"
#include "actors/protocol/input.hpp"
#include "actors/protocol/checkpoint.hpp"
#include "actors/protocol/joining.hpp"
#include "actors/protocol/release.hpp"
#include "actors/protocol/observation.hpp"
#include "actors/protocol/run.hpp"
#include "actors/protocol/message_carriers.hpp"  // tells CAF about the messages
