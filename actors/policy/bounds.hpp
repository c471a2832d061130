#pragma once
// Proven lower bounds of the makespan. Standard library only.

#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/shard_group.hpp"
#include "runtime/base/step_shape.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// The frozen parameters of a shard.
struct base_copy_times {
  duration promote{};                ///< h2d; 0: there are none, or it was not measured
  byte_count bytes{};                ///< that they take on a device
  std::optional<block_id> shared{};  ///< name; none: no other model reads them
};

/// The classes of units of a model and the smallest time seen of each, at speed 1. Of a training step in several lanes
/// these are the units of the first one.
struct unit_times {
  std::vector<duration> forward{};   ///< per shard; the last entry is unused (its forward is part of backward)
  std::vector<duration> backward{};  ///< per shard
  std::vector<duration> evaluate{};  ///< per shard, of one micro-batch
  std::vector<duration> promote{};   ///< per shard, h2d of its parameters but frozen ones; 0 where not measured
  std::vector<duration> demote{};    ///< per shard, d2h of its gradients; 0 where not measured
  std::vector<duration> update{};    ///< per shard, optimizer; 0 where not measured
  std::vector<byte_count> parameters{};  ///< per shard, on a device, but frozen ones; where not given they need none
  byte_count last_visit{};  ///< all bytes on its device that the last shard's visit takes
  std::vector<base_copy_times> bases{};  ///< per shard
  std::vector<shard_group> groups{};     ///< shards whose units can be computed at the same time
  std::uint32_t first_trained = 0;       ///< shard; those below it have no backward units
  std::uint32_t steps = 0;
  std::uint32_t replicas = 1;      ///< of every step, at the same time
  std::uint32_t waves = 1;         ///< of each replica
  std::uint32_t meets = 0;         ///< shard from which on all replicas are visited together; 0: none (step_shape)
  std::uint32_t evaluations = 0;   ///< complete ones
  bool evaluated_first = false;    ///< one of them came before the first of these steps
  bool evaluated_last = false;     ///< one of them came after the last step
  std::uint32_t evaluation_micro_batches = 0;
};

/// With as many micro-batches as visits.
step_shape shape_of(const unit_times& m);

/// The machine of a workload.
struct resources {
  std::vector<double> speeds;      ///< of the devices; each has a link of its own, both ways at once
  int optimizer_workers = 1;
  /// Of all devices together, in what unit_times counts: bytes, or cache slots.
  byte_count memory{std::numeric_limits<std::uint64_t>::max()};
};

/// The bounds of a workload and the largest of them by name.
struct bounds {
  duration work{};        ///< sum of all unit times / sum of speeds
  duration chain{};       ///< longest replica alone on the fastest devices: its units in order, waves side by side,
                          ///< and pieces
  duration uniform{};     ///< of the k longest lanes on the k fastest devices, for each k (Horvath, Lam, Sethi 1977)
  duration h2d{};         ///< every version of every shard as often as memory requires, bases as well / links
  duration d2h{};         ///< so do the gradients of each lane
  duration optimizer{};   ///< all updates / workers

  struct named {
    std::string name;
    duration value{};
  };
  /// All of them by name; of equal ones the first is the best.
  std::vector<named> all() const;
  duration best() const;
  std::string best_name() const;
};

/// Scheduling study, section 3. The chain bound counts the unavoidable time at each step boundary (gradient of shard 0
/// down, its update, its parameters up) as far as those times are given. They are not given for shards that devices
/// step: their versions need not cross a link.
bounds lower_bounds(std::span<const unit_times> models, const resources& machines);

}  // namespace hydra
