#pragma once
// The state of one run of the event loop: pending events, models, devices. Internal to event_loop.cpp.
// Sources: loop_run.cpp (events), loop_run_staging.cpp (placing a unit, its copies).

#include "actors/policy/schedule_tracker.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/instance_chain.hpp"
#include "actors/simulation/slot_cache.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

namespace hydra {

/// Events at one instant are handled in this order; those of one kind by `a`, then `b`.
enum class loop_event_kind : std::uint8_t { unit_ended, written_back, gradients_written_back, version_ready, copies_ended, arrived, died };

struct loop_event {
  duration at{};
  loop_event_kind kind = loop_event_kind::unit_ended;
  std::uint32_t a = 0;         ///< device or model
  std::uint32_t b = 0;         ///< shard, or unit of the step
  std::uint32_t step = 0;
  std::uint32_t attempt = 0;   ///< of the model
  bool operator>(const loop_event& o) const { return std::tie(at, kind, a, b) > std::tie(o.at, o.kind, o.a, o.b); }
};

/// A unit that is staged or computes.
struct loop_visit {
  std::uint32_t model = 0;
  std::uint32_t step = 0;
  std::uint32_t index = 0;
  unit what;
  duration ready{};            ///< its copies have ended
  duration begun{};
  std::size_t slot = 0;
  bool hit = false;
};

/// A boundary on a device, and the staging that used it last.
struct boundary_place {
  device_id device;
  std::uint64_t staged = 0;    ///< 0: nowhere
};

struct loop_model {
  explicit loop_model(const instance_model& m, model_id id)
      : given(&m),
        chain(m, id),
        versions(m.forward.size()),
        updates(m.forward.size()),
        made(m.forward.size()),
        read(m.forward.size()) {}

  const instance_model* given;
  instance_chain chain;
  std::vector<std::uint32_t> versions;    ///< READY, per shard
  std::vector<std::uint32_t> updates;     ///< given to the host workers, per shard
  std::uint32_t step = 0;                 ///< of the next unit to announce
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  bool here = false;                      ///< it has arrived
  bool announced = false;                 ///< that unit is announced, or staged and not started
  bool predecessor_ended = true;
  bool predecessor_written_back = true;
  device_id device;                       ///< the device of the predecessor
  std::uint64_t staged = 0;               ///< its staging there
  duration output_home{};                 ///< when the predecessor's output is on the host
  std::vector<boundary_place> made;       ///< by shard: where its activation was computed in this step, ...
  std::vector<boundary_place> read;       ///< ... and read by the shard above
  std::size_t last_ready = 0;             ///< shards with the last version
};

struct loop_device {
  explicit loop_device(const schedule_instance& i, double v) : speed(v), cache(i.slots) {}

  double speed;
  bool alive = true;
  slot_cache cache;
  copy_queue in;
  copy_queue out;
  std::optional<loop_visit> staged;
  std::optional<loop_visit> computing;
};

/// One run of an instance: schedule tracker, policy and the machine's rules, event by event.
class loop_run {
 public:
  loop_run(const schedule_instance& instance, std::unique_ptr<policy> chosen, const loop_options& options);
  simulated_run run();

 private:
  // -- events ------------------------------------------------------------------------------------------------------
  void apply(const loop_event& e);
  void on_unit_ended(std::uint32_t device);
  void on_written_back(const loop_event& e);
  void on_gradients_written_back(const loop_event& e);
  void on_version_ready(std::uint32_t model, std::uint32_t shard);
  void on_arrived(std::uint32_t model);
  void on_died(std::uint32_t device);
  void rewind(const model_loss& loss);
  void leave_if_over(std::uint32_t model);

  // -- what follows ------------------------------------------------------------------------------------------------
  void announce(std::uint32_t model);
  void decide();
  void stage(const placement& p);
  struct missing {
    bool parameters = false;
    bool checkpoint = false;
    bool boundary = false;
  };
  missing missing_on(device_id device, const loop_visit& v) const;
  bool is_there(const boundary_place& place, device_id device) const;
  void note_boundaries(const loop_visit& v, device_id device, const missing& what);
  duration copy_inputs(const loop_visit& v, loop_device& d, const missing& what, duration slot_from);
  void start_if_ready(std::uint32_t device);
  void copy_outputs(const loop_visit& v, loop_device& d);
  void drop_old_version(const loop_visit& v, std::uint32_t device);
  void report_cache(std::uint32_t device, const std::optional<shard_version>& cached,
                    const std::optional<shard_version>& dropped);
  duration length_of(const loop_visit& v, const loop_device& d) const;
  void push(duration at, loop_event_kind kind, std::uint32_t a, std::uint32_t b = 0, std::uint32_t step = 0,
            std::uint32_t attempt = 0) {
    events_.push({at, kind, a, b, step, attempt});
  }
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
