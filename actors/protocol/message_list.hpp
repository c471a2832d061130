#pragma once
// The names of all messages except those of a policy actor, and their declarations.

// clang-format off: a line for a conversation
#define HYDRA_MESSAGES(X)                                                                                              \
  X(begin_run)                                                                                                         \
  X(actors_spawned)                                                                                                    \
  X(device_added) X(add_model) X(prepare_model) X(model_prepared) X(model_admitted) X(model_refused) X(model_added) X( \
      model_arrived) X(model_left) X(task_ended) X(register_model) X(unit_ready) X(device_freed) X(prefetch_shard)     \
      X(unit_placed) X(unit_lost) X(withdraw_unit) X(execute_shard) X(lease_shard) X(shard_leased) X(lease_refused)    \
          X(lease_returned) X(operation_completed) X(shard_demoted) X(shard_failed) X(shard_completed) X(step_shard)   \
              X(values_exchanged) X(losses_gathered) X(shard_stepped) X(shard_updated) X(resume_updates)               \
                  X(batch_wanted) X(batch_ready) X(capture_model) X(hold_updates) X(updates_held) X(model_captured)    \
                      X(save_model) X(shard_saved) X(model_saved) X(checkpoint_due) X(step_observed)                   \
                          X(step_acknowledged) X(evaluation_observed) X(evaluation_acknowledged) X(event_observed)     \
                              X(event_acknowledged) X(callback_failed) X(checkpoint_saved) X(policy_replaced)          \
                                  X(step_completed) X(evaluation_completed) X(callback_began) X(callback_ended)        \
                                      X(wish_refused) X(check_controller) X(controller_failed) X(controller_lost)      \
                                          X(trial_held) X(trial_decided) X(trial_left) X(trial_copied) X(rule_decided) \
                                              X(record_again) X(make_room_again)                                      \
                                              X(steer_model) X(stop_model) X(pause_model) X(pause_failed)              \
                                                  X(keep_model) X(model_kept) X(model_drained) X(release_model)        \
                                                      X(release_updates) X(updates_released) X(model_released)         \
                                                          X(read_status) X(interrupt_run) X(run_aborted)               \
                                                              X(run_stalled) X(report_state) X(state_reported)         \
                                                                  X(check_progress) X(device_lost) X(device_given_up)  \
                                                                      X(read_meters) X(device_retired)                 \
                                                                          X(scheduler_retired)                         \
                                                                          X(memory_retired) X(check_devices)           \
                                                                              X(check_policy) X(shut_down)
// clang-format on

#define HYDRA_NAME_MESSAGE(M) struct M;

namespace hydra {

HYDRA_MESSAGES(HYDRA_NAME_MESSAGE)

}  // namespace hydra
