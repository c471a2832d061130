#pragma once
// A schedule made by chance, without any of the scheduler's classes: whenever a device is idle it starts some unit that
// may start. Units take their time, parameters may be used once their version is ready and loaded; links and optimizer
// are free.

#include "actors/policy/bounds.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace hydra::test {

class random_schedule {
 public:
  /// An evaluation comes before each of the last `evaluations` - 1 steps and at the end, or not at all.
  random_schedule(const std::vector<unit_times>& models, const std::vector<double>& speeds, std::uint32_t seed);

  /// When the last version is ready and the last evaluation has ended.
  duration run();

 private:
  struct task {
    duration cost{};
    std::vector<std::size_t> before{};         ///< tasks that end before it starts
    std::optional<std::size_t> reads{};        ///< the newest version of a shard
    std::optional<std::size_t> completes{};    ///< a replica's gradients of a shard
    bool started = false;
    bool done = false;
  };
  struct model {
    unit_times times;
    std::vector<duration> loaded;          ///< the newest version of each shard
    std::vector<std::uint32_t> sums;       ///< of each shard, in this step
    std::uint32_t step = 0;
    std::vector<task> tasks;               ///< of this step
  };
  struct choice {
    std::size_t model;
    std::size_t task;
  };
  void begin_step(model& m);
  void add_evaluation(model& m);
  void add_lanes(model& m);
  bool evaluates(const model& m) const;
  bool may_start(const model& m, const task& t) const;
  bool start_some();
  void end(std::size_t device);

  std::mt19937 rng_;
  std::vector<model> models_;
  std::vector<double> speeds_;
  std::vector<std::optional<choice>> running_;            ///< on each device
  /// the device that ends its unit; none: a version is loaded
  std::multimap<duration, std::optional<std::size_t>> events_;
  duration now_{};
  duration last_{};
};

}  // namespace hydra::test
