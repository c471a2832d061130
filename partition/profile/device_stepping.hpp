#pragma once
// Which shards are updated on the device that has just computed their gradients, and what that saves.

#include "models/chain.hpp"
#include "partition/profile/update_cost.hpp"
#include "runtime/base/bytes.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Where a workload wants its parameters updated. device: every shard that can be; automatic: those shards whose
/// gradients are written back last, as many as make a step shorter by the measured rates.
enum class optimizer_place : std::uint8_t { host, device, automatic };

std::string to_string(optimizer_place p);

/// The pieces of a chain for which a plan reserves the memory of an update on a device.
struct device_stepping {
  enum class scope : std::uint8_t { none, first, all } pieces = scope::none;   ///< first: those that start with layer 0
  std::uint32_t buffers = 0;            ///< of fp32 state, each with one element per parameter
  std::vector<bool> host_only{};        ///< per layer: updated on the host (ties need other shards; running averages)

  /// True if layers [first, last) can be updated on a device.
  bool possible(std::size_t first, std::size_t last) const;
  /// True if they can and `pieces` includes them.
  bool covers(std::size_t first, std::size_t last) const;
  friend auto operator<=>(const device_stepping&, const device_stepping&) = default;
};

/// For `device` all pieces that can be updated there; for `automatic` none, because it is decided after the cut. With
/// gradient clipping no piece can: the norm of the whole model comes first; nor with a rule that is not elementwise.
device_stepping stepping_of(const chain& model, optimizer_place place, const update_options& rule);

/// Of one model that runs alone; times at speed 1.
struct shard_boundary {
  duration forward{};        ///< zero for the last shard
  duration backward{};
  duration promote{};        ///< parameters in
  duration demote{};         ///< gradients out
  duration update{};         ///< on the host, with all threads
  duration device_update{};
  duration demote_stepped{}; ///< new parameters and state out
};

/// Time of a step, from one start of shard 0 to the next, if the first `on_device` shards are updated on the device. On
/// the host updates run in the order of write-back; a shard's new version must be on the device when its forward
/// starts.
duration boundary_of(std::span<const shard_boundary> shards, std::size_t on_device);

/// How many of the first shards, at most `most`, to update on the device: the smallest number with the shortest step.
std::size_t best_split(std::span<const shard_boundary> shards, std::size_t most);

}  // namespace hydra
