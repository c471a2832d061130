#pragma once
// The same actors under virtual time: scheduler, model tasks, memory manager, optimizer and devices of a real run, over
// simulated devices with unit times from a table. Deterministic: the same setup gives the same run, to the nanosecond.

#include "actors/run/launch.hpp"
#include "actors/run/run_setup.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hydra {

class simulated_device;
class simulated_executor;

/// One shard of a simulated model: sizes and times at speed 1.
struct simulated_shard {
  duration forward{};
  duration backward{};
  duration update{};
  duration evaluate{};     ///< of one micro-batch
  byte_count parameters;
  byte_count base{};                        ///< frozen parameters
  std::optional<base_place> shared_base{};  ///< their name, if other models may have the same
  byte_count activation;   ///< its output boundary
  byte_count working;      ///< C of both visits
  byte_count write_back{};    ///< part of it that is free only after the visit's write-back
  byte_count saved{};         ///< what the forward visit can leave on the device of a micro-batch
  std::optional<byte_count> gradients{};  ///< bytes copied to the host, if not those of its parameters
  std::optional<duration> device_update{};  ///< part of backward: it is stepped there, with two moments
};

/// Host buffers of a model of which only sizes count.
std::vector<shard_home> homes_without_bytes(const model_plan& plan);

struct simulated_model {
  std::string name;
  std::vector<simulated_shard> shards;
  std::uint32_t steps = 1;
  std::uint32_t micro_batches = 1;
  std::uint32_t replicas = 1;        ///< divides micro_batches
  std::uint32_t waves = 1;           ///< divides those of a replica
  std::uint32_t first_trained = 0;   ///< shard; those below it have no backward visits
  evaluation_schedule evaluation{};
  bool clips = false;                ///< the norm barrier of the optimizer
  bool keep_best = false;
  schedule_terms terms{};
  bool tied = false;                 ///< the last shard repeats a parameter of the first
  std::optional<byte_count> slot{};  ///< devices count in slots: bytes of one; only parameters take a slot,
                                     ///< or the base of a shard that is mostly frozen
  double remaining_scale = 1;        ///< wall time alone / compute time
};

/// Of the computations' lengths: see simulated_device::shake.
struct simulated_noise {
  double share = 0;
  std::uint64_t seed = 0;
};

struct simulation_setup {
  std::vector<device_info> devices;  ///< name, speed, memory, link, latency
  std::vector<simulated_model> models;
  std::vector<sharded_model_ptr> planned{};  ///< models of a real plan, after the others; their chains are not used
  std::vector<simulated_model> joiners{};   ///< models that may be added, by name; if empty, none can join
  std::set<model_id> waiting{};             ///< models that wait for memory
  bool begin_paused = false;                ///< these are paused until they are resumed
  byte_count planned_memory{std::uint64_t{1} << 50};  ///< they are admitted while host_demand() is within it
  std::function<std::optional<model_checkpoint>(const std::string& model)> saved{};  ///< where paused models continue;
                                                                                     ///< null: at the start
  std::unique_ptr<policy> chosen;
  policy_actor_setup advice{};           ///< of a policy actor that `chosen` asks
  pipeline_options pipeline;
  int optimizer_workers = 1;
  byte_count host_memory{std::uint64_t{1} << 50};
  run_callbacks callbacks;
  search_setup search{};
  checkpoint_setup checkpoints{};
  std::vector<model_checkpoint> resumed{};   ///< in the order of `models`: where they continue; empty: at the start
  duration callback_limit{};         ///< zero: no limit
  duration stall_limit{};            ///< zero: no limit
  watch_limits watch{.minimum = {}};
  run_terms costs{};                 ///< of devices and host
  simulated_noise noise{};
  std::shared_ptr<spdlog::logger> log{};  ///< null: nothing is logged
  bool records_spans = true;         ///< false: no trace, for long runs
};

/// A run that can be stepped. Not thread-safe.
class simulation {
 public:
  explicit simulation(simulation_setup setup);
  ~simulation();

  /// Requests that one of the joiners joins; the answer is among the joins().
  void add_model(const std::string& name);
  /// See session::copy_begun().
  void copy_begun(const std::string& copy, bool joined);
  /// See session::decided().
  void decided(const trial_decision& decision);
  /// The answer is among the answers().
  void steer(const std::string& name, model_command what);
  void steer(const std::string& name, model_command what, command_sink answer);
  /// What models and devices do at this instant. Throws fault_error{refused} if the run has ended.
  run_status status();
  const std::vector<fault>& answers() const noexcept { return answers_; }
  const std::vector<join_result>& joins() const noexcept { return joins_; }

  /// Lets one runnable actor handle one message: the `choice`-th of those that can (modulo their number). If none can,
  /// the next time-out fires. False if nothing is left to do.
  bool step(std::size_t choice = 0);

  /// The actor that `step(choice)` lets run; null if a time-out would fire.
  caf::scheduled_actor* next(std::size_t choice = 0) const;

  /// Fires the next time-out although actors could run, as if messages took time. False if none is pending.
  bool let_time_pass();

  /// Until nothing is left to do. At each instant the SCHEDULER runs last.
  void run();
  /// The same, as far as it is not later than `until`, which is the time afterwards.
  void run_until(time_point until);
  /// Nothing is left to do.
  bool is_idle() const;

  /// The record, once the run is over.
  const std::optional<run_record>& record() const noexcept { return record_; }
  time_point now() const;

  /// The device's actor dies after this time.
  void kill_device(std::size_t i, duration after);

  const actors_spawned& actors() const noexcept { return actors_; }
  simulated_device& device_at(std::size_t i) { return *devices_.at(i); }
  trace& spans() noexcept { return spans_; }
  const host_arena& arena() const noexcept { return *arena_; }

 private:
  run_setup make_run_setup(simulation_setup setup);
  /// Index of a runnable actor that is not the SCHEDULER; their number if there is none.
  std::size_t first_but_scheduler() const;
  bool time_out_is_due() const;
  bool is_pending(std::optional<time_point> until) const;
  void run_while_pending(std::optional<time_point> until);

  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
  caf::scheduler::test_coordinator* coordinator_ = nullptr;
  trace spans_;
  std::unique_ptr<host_arena> arena_;
  std::vector<std::unique_ptr<simulated_device>> devices_;
  std::unique_ptr<simulated_executor> executor_;
  std::optional<run_record> record_;
  const caf::resumable* scheduler_job_ = nullptr;
  actors_spawned actors_;   ///< with the tasks that have joined by add_model()
  std::vector<join_result> joins_;
  std::vector<fault> answers_;
};

/// A sharded model without layers: only its plan counts.
sharded_model_ptr make_simulated_model(const simulated_model& m);

}  // namespace hydra
