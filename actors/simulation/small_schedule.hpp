#pragma once
// A run of a small instance that can be copied, to search through all decisions: a third statement of the rules of the
// scheduling instances' README, for units that are complete when they have ended.

#include "actors/simulation/instance.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// What of the instance small_schedule cannot run, as words: "depth 2"; empty: nothing. It runs models of one lane with
/// all shards trained, without bases and arrivals, on devices that stage one unit and do not die, without noise, whose
/// units all take some time.
std::string beyond_small_schedule(const schedule_instance& instance);

/// What small schedules of an instance share. `instance` is valid, outlives this, and nothing of it is beyond it.
struct small_instance {
  explicit small_instance(const schedule_instance& instance);

  struct unit_cost {
    std::uint32_t shard = 0;
    duration length{};             ///< at speed 1
    duration shortest{};           ///< on the fastest device
    bool steps = false;            ///< it leaves gradients
  };
  struct model_costs {
    const instance_model* times = nullptr;
    std::vector<unit_cost> units;  ///< of a step
    std::uint32_t total = 0;       ///< units of the model
    std::vector<duration> rest;    ///< computing time of a step from each of its units on
    std::uint32_t shards() const noexcept { return static_cast<std::uint32_t>(times->forward.size()); }
  };

  const schedule_instance& given;
  std::vector<model_costs> models;
};

class small_schedule {
 public:
  /// Everything that decides what may follow, with times relative to now: schedules with equal keys have the same
  /// futures. Devices of one speed in any order. 128 bits of a hash.
  struct key {
    std::uint64_t first = 0, second = 0;
    friend auto operator<=>(const key&, const key&) = default;
  };

  /// `instance` outlives this.
  explicit small_schedule(const small_instance& instance);

  /// Goes on until a policy would be asked: for which device; `models`: whose next unit it may stage. None: the run has
  /// ended.
  std::optional<std::uint32_t> next(std::vector<std::uint32_t>& models);
  /// The answer: stage that model's next unit.
  void stage(std::uint32_t model);
  /// The answer: nothing until the next event. Not if there is none and no other device is asked: a policy that answers
  /// so is replaced.
  void hold();
  bool may_hold() const;

  duration now() const noexcept { return now_; }
  /// Of the run that has ended.
  duration makespan() const noexcept { return makespan_; }
  /// No schedule from here has a smaller makespan.
  duration bound() const;
  /// Computing time of the model from its next unit on, at speed 1.
  duration remaining(std::uint32_t model) const;
  key state() const;

 private:
  struct slot {
    std::int32_t model = -1;     ///< none: empty, or what it held is useless
    std::uint32_t shard = 0;
    std::uint32_t step = 0;
    duration free_at{};          ///< copies that read it end
    std::uint64_t staged = 0;    ///< stamp of its last staging
  };
  struct device_record {
    std::int32_t computing = -1;   ///< model
    std::int32_t staged = -1;      ///< model
    duration end{};                ///< of what it computes
    duration ready{};              ///< copies of the staged unit end
    duration in_free{};            ///< its queues of copies
    duration out_free{};
    bool holds = false;            ///< it was answered so since the last event
    std::vector<slot> slots;
  };
  struct progress {
    std::uint32_t ended = 0;       ///< units
    std::int32_t computing = -1;   ///< device
    std::int32_t staged = -1;      ///< device
    std::int32_t last = -1;        ///< device of the unit that ended last
    duration begun{};              ///< start of the unit that computes
    duration output{};             ///< when that of the unit that ended last is on the host
    std::vector<std::uint32_t> versions;   ///< ready, of each shard
    std::vector<duration> gradients;       ///< on the host, of the last step that has them
  };
  enum class event_kind : std::uint8_t { ended, gradients, version, copied };
  struct event {
    duration at{};
    event_kind kind = event_kind::ended;
    std::uint32_t a = 0;           ///< device, or model
    std::uint32_t shard = 0;
    friend auto operator<=>(const event&, const event&) = default;
  };

  std::uint32_t next_unit(std::size_t model) const;
  const small_instance::unit_cost& cost_of(std::size_t model, std::uint32_t unit) const;
  std::uint32_t step_of(std::size_t model, std::uint32_t unit) const;
  bool is_candidate(std::size_t device, std::size_t model) const;
  bool may_ask(const device_record& d) const;
  void begin_pass();
  void handle_events();
  void handle(const event& e);
  void end_unit(std::size_t device);
  void drop_version(std::size_t model, std::uint32_t shard, std::size_t device, duration drained);
  void queue_update(const event& e);
  void begin_if_ready(std::size_t device);
  slot* find_slot(std::size_t device, std::size_t model, std::uint32_t unit);
  slot& give_slot(std::size_t device);
  bool computes_from(const device_record& d, const slot& s) const;
  duration copy_in(device_record& d, duration from, duration length) const;
  duration copy_out(device_record& d, duration length) const;
  void push(const event& e);
  duration path(std::size_t model) const;
  bool waits_for_output(std::size_t model) const;
  key key_of(std::size_t device) const;

  const small_instance* instance_;
  std::vector<device_record> devices_;
  std::vector<progress> models_;
  std::vector<event> events_;            ///< ascending
  std::vector<duration> workers_;        ///< of the host: free then
  std::vector<std::uint32_t> pass_;      ///< devices, in the order in which they are asked
  std::size_t asked_ = 0;                ///< of them
  bool in_pass_ = false;
  bool placed_ = false;                  ///< something in this pass
  std::uint64_t stamp_ = 0;
  duration now_{};
  duration makespan_{};
};

}  // namespace hydra
