#pragma once
// One run of the event loop. Internal to event_loop.cpp. Sources: loop_run.cpp (events), loop_run_failing.cpp (devices
// that die), loop_run_staging.cpp (placing a unit, its copies).

#include "actors/policy/schedule_tracker.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/loop_state.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace hydra {

/// One run of an instance: schedule tracker, policy and the machine's rules, event by event.
class loop_run {
 public:
  loop_run(const schedule_instance& instance, std::unique_ptr<policy> chosen, const loop_options& options);
  simulated_run run();

 private:
  // -- events ------------------------------------------------------------------------------------------------------
  void apply(const loop_event& e);
  void on_unit_ended(const loop_event& e);
  void on_written_back(const loop_event& e);
  void on_sum_landed(const loop_event& e);
  void update(std::uint32_t model, std::uint32_t shard);
  void on_version_ready(std::uint32_t model, std::uint32_t shard);
  void on_arrived(std::uint32_t model);
  void on_died(std::uint32_t device);
  void leave_if_over(std::uint32_t model);

  // -- losses ------------------------------------------------------------------------------------------------------
  void rewind(const model_loss& loss);
  void rewind_to_lost(loop_lane& lane, const model_loss& loss);
  void withdraw(const flight& f);

  // -- what follows ------------------------------------------------------------------------------------------------
  void announce(std::uint32_t model, std::uint32_t lane);
  /// That lane, and the one that continues its sums.
  void announce_from(std::uint32_t model, std::uint32_t lane);
  /// For the hint of the lane's next unit; none: it may not be announced yet.
  std::optional<device_id> device_to_follow(std::uint32_t model, std::uint32_t lane) const;
  /// The flight of that unit, if it is in flight.
  const flight* find_flight(std::uint32_t model, const chain_position& p) const;
  void decide();
  void stage(const placement& p);
  struct missing {
    bool slot = false;     ///< what its slot holds
    bool trained = false;  ///< the rest of its parameters
    bool checkpoint = false;
    bool boundary = false;
    bool sum = false;
  };
  missing missing_on(device_id device, const loop_visit& v) const;
  bool trained_is_missing_on(device_id device, const loop_visit& v) const;
  bool sum_is_missing_on(device_id device, const loop_visit& v) const;
  /// The base of its shard, else the version that it reads.
  shard_version held_for(const loop_visit& v) const;
  bool has_base(const loop_visit& v) const { return unit_of(v).base.has_value(); }
  bool is_there(const boundary_place& place, device_id device) const;
  bool is_made(const loop_visit& v, block_index b) const;
  void note_blocks(const loop_visit& v, device_id device, const missing& what);
  duration copy_inputs(const loop_visit& v, loop_device& d, const missing& what, duration slot_from);
  void start_if_ready(std::uint32_t device);
  /// `outdated`: no unit will read what its slot holds.
  void copy_outputs(const loop_visit& v, loop_device& d, bool outdated);
  duration copy_gradients(const loop_visit& v, loop_device& d, bool outdated);
  duration in_order(const loop_visit& v, duration written_back);
  /// It is backward, and no unit of the step will read the shard's parameters after it.
  bool is_last_reader(const loop_visit& v) const;
  void drop_old_version(const loop_visit& v, std::uint32_t device);
  void report_cache(std::uint32_t device, const std::optional<shard_version>& cached,
                    const std::optional<shard_version>& dropped);
  duration length_of(const loop_visit& v, const loop_device& d) const;
  void push(const loop_event& e) { events_.push(e); }
  loop_model& model_of(const loop_visit& v) { return models_[v.model]; }
  const loop_model& model_of(const loop_visit& v) const { return models_[v.model]; }
  const instance_unit& unit_of(const loop_visit& v) const { return model_of(v).chain.at(v.at.node); }
  /// In its lane.
  std::uint32_t place_of(const loop_visit& v) const { return model_of(v).chain.graph().place_in_lane(v.at.node); }
  loop_lane& lane_of(const loop_visit& v) { return models_[v.model].lanes[v.lane]; }
  const loop_lane& lane_of(const loop_visit& v) const { return models_[v.model].lanes[v.lane]; }
  time_point clock() const { return time_point{now_}; }
  bool finished() const { return models_over_ == models_.size(); }
  void replace_policy(const std::string& reason);

  const schedule_instance& instance_;
  loop_options options_;
  schedule_tracker tracker_;
  std::vector<loop_model> models_;
  std::vector<loop_device> devices_;
  std::vector<duration> workers_;
  std::priority_queue<loop_event, std::vector<loop_event>, std::greater<>> events_;
  schedule_tracker::placement_sink on_placed_;
  duration now_{};
  std::size_t models_over_ = 0;
  simulated_run result_;
};

}  // namespace hydra
