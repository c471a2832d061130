#pragma once
// What each actor receives.

#include "actors/protocol/advice.hpp"
#include "actors/protocol/caf_version.hpp"
#include "actors/protocol/message_list.hpp"

namespace hydra {

/// DEVICE: slots, block cache, operations of one device.
using device_actor =
    caf::typed_actor<caf::reacts_to<begin_run>, caf::reacts_to<prefetch_shard>, caf::reacts_to<execute_shard>,
                     caf::reacts_to<withdraw_unit>, caf::reacts_to<shard_leased>, caf::reacts_to<lease_refused>,
                     caf::reacts_to<operation_completed>, caf::reacts_to<model_released>, caf::reacts_to<report_state>,
                     caf::reacts_to<shut_down>>;

/// MODEL TASK: cursor and history of one model; announces its units.
using task_actor =
    caf::typed_actor<caf::reacts_to<begin_run>, caf::reacts_to<model_arrived>, caf::reacts_to<unit_placed>,
                     caf::reacts_to<unit_lost>, caf::reacts_to<shard_completed>, caf::reacts_to<losses_gathered>,
                     caf::reacts_to<shard_updated>, caf::reacts_to<batch_ready>, caf::reacts_to<step_acknowledged>,
                     caf::reacts_to<evaluation_acknowledged>, caf::reacts_to<controller_lost>,
                     caf::reacts_to<checkpoint_due>, caf::reacts_to<model_captured>, caf::reacts_to<model_saved>,
                     caf::reacts_to<stop_model>, caf::reacts_to<pause_model>, caf::reacts_to<keep_model>,
                     caf::reacts_to<model_drained>, caf::reacts_to<run_aborted>, caf::reacts_to<report_state>,
                     caf::reacts_to<shut_down>>;

/// MEMORY MANAGER: host buffers of blocks, leases, versions; decides alone when a unit is complete.
using memory_actor =
    caf::typed_actor<caf::reacts_to<device_added>, caf::reacts_to<register_model>, caf::reacts_to<lease_shard>,
                     caf::reacts_to<lease_returned>, caf::reacts_to<shard_demoted>, caf::reacts_to<shard_failed>,
                     caf::reacts_to<values_exchanged>, caf::reacts_to<shard_stepped>, caf::reacts_to<batch_ready>,
                     caf::reacts_to<device_lost>, caf::reacts_to<capture_model>, caf::reacts_to<updates_held>,
                     caf::reacts_to<model_saved>, caf::reacts_to<release_model>, caf::reacts_to<updates_released>,
                     caf::reacts_to<report_state>, caf::reacts_to<shut_down>>;

/// OPTIMIZER: update jobs on the host.
using optimizer_actor = caf::typed_actor<
    caf::reacts_to<step_shard>, caf::reacts_to<resume_updates>, caf::reacts_to<operation_completed>,
    caf::reacts_to<hold_updates>, caf::reacts_to<shard_saved>, caf::reacts_to<model_saved>,
    caf::reacts_to<release_updates>, caf::reacts_to<report_state>, caf::reacts_to<shut_down>>;

/// SCHEDULER: ready units, credits, flights, and the policy object.
using scheduler_actor = caf::typed_actor<
    caf::reacts_to<device_added>, caf::reacts_to<model_added>, caf::reacts_to<model_left>, caf::reacts_to<unit_ready>,
    caf::reacts_to<device_freed>, caf::reacts_to<shard_completed>, caf::reacts_to<shard_failed>,
    caf::reacts_to<device_lost>, caf::reacts_to<policy_advised>, caf::reacts_to<check_policy>,
    caf::reacts_to<check_devices>, caf::reacts_to<report_state>, caf::reacts_to<shut_down>>;

/// DATA: reads batches, off the cooperative threads.
using data_actor = caf::typed_actor<caf::reacts_to<batch_wanted>, caf::reacts_to<model_admitted>,
                                    caf::reacts_to<model_released>, caf::reacts_to<shut_down>>;

/// CHECKPOINTER: writes models to durable storage, one after the other, off the cooperative threads.
using checkpoint_actor = caf::typed_actor<caf::reacts_to<save_model>, caf::reacts_to<shut_down>>;

/// ADMISSION: prepares models that join the run, off the cooperative threads.
using admission_actor = caf::typed_actor<caf::reacts_to<prepare_model>, caf::reacts_to<shut_down>>;

/// CONTROLLER: the user's callbacks and the rule of a search; every observed event is acknowledged.
using controller_actor =
    caf::typed_actor<caf::reacts_to<step_observed>, caf::reacts_to<evaluation_observed>, caf::reacts_to<event_observed>,
                     caf::reacts_to<trial_left>, caf::reacts_to<trial_copied>, caf::reacts_to<rule_decided>,
                     caf::reacts_to<record_again>, caf::reacts_to<shut_down>>;

/// REPORTER: counters and curves.
using reporter_actor =
    caf::typed_actor<caf::reacts_to<begin_run>, caf::reacts_to<model_admitted>, caf::reacts_to<model_refused>,
                     caf::reacts_to<step_completed>, caf::reacts_to<evaluation_completed>,
                     caf::reacts_to<shard_completed>, caf::reacts_to<shard_updated>, caf::reacts_to<task_ended>,
                     caf::reacts_to<model_released>, caf::reacts_to<device_retired>, caf::reacts_to<scheduler_retired>,
                     caf::reacts_to<memory_retired>, caf::reacts_to<shard_saved>, caf::reacts_to<model_saved>,
                     caf::reacts_to<controller_lost>, caf::reacts_to<callback_failed>, caf::reacts_to<wish_refused>,
                     caf::reacts_to<device_lost>,
                     caf::reacts_to<state_reported>,
                     caf::reacts_to<read_status>, caf::reacts_to<check_progress>, caf::reacts_to<read_meters>,
                     caf::reacts_to<shut_down>>;

/// SUPERVISOR: starts the run, monitors it, lets models join, ends it: tasks -> scheduler -> devices -> optimizer,
/// memory.
using supervisor_actor =
    caf::typed_actor<caf::reacts_to<actors_spawned>, caf::reacts_to<add_model>, caf::reacts_to<model_prepared>,
                     caf::reacts_to<task_ended>, caf::reacts_to<model_drained>, caf::reacts_to<model_released>,
                     caf::reacts_to<device_given_up>, caf::reacts_to<callback_began>, caf::reacts_to<callback_ended>,
                     caf::reacts_to<check_controller>, caf::reacts_to<controller_failed>, caf::reacts_to<steer_model>,
                     caf::reacts_to<pause_failed>, caf::reacts_to<model_kept>, caf::reacts_to<trial_held>,
                     caf::reacts_to<trial_decided>, caf::reacts_to<trial_copied>, caf::reacts_to<rule_decided>,
                     caf::reacts_to<record_again>, caf::reacts_to<make_room_again>, caf::reacts_to<read_status>,
                     caf::reacts_to<event_acknowledged>, caf::reacts_to<callback_failed>,
                     caf::reacts_to<checkpoint_saved>, caf::reacts_to<policy_replaced>, caf::reacts_to<interrupt_run>,
                     caf::reacts_to<run_aborted>, caf::reacts_to<run_stalled>>;

}  // namespace hydra
